import type { JSX, RefObject } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { PlaybookStep } from "../../../../../../src/index.ts";
import { Icon, type IconName } from "../../../../shared/browser/index.ts";
import { t } from "../../texts.ts";
import { graphOf, nodeHeight, nodeWidth, type GraphEdge, type GraphNode } from "./graph.ts";
import type { TakenPath } from "./taken-path.ts";

interface StepGraphProps {
  readonly steps: readonly PlaybookStep[];
  /** The path that a run took. It is highlighted. */
  readonly taken?: TakenPath | undefined;
  /** The indexes of the steps that have a problem. */
  readonly faulty?: ReadonlySet<number>;
  /** The index of the selected step. */
  readonly selected?: number | undefined;
  /** Makes the boxes buttons. */
  readonly onPick?: (index: number) => void;
}

/** Draws the steps of a playbook as a graph. For screen readers, they are a list. */
export function StepGraph(props: StepGraphProps): JSX.Element {
  const { steps, taken, faulty, selected, onPick } = props;
  const { nodes, edges, width, height } = useMemo(() => graphOf(steps), [JSON.stringify(steps)]);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const zoom = useZoom(box, width);
  // Taken edges are drawn above the others.
  const drawn = edges
    .map((edge) => ({ edge, isTaken: taken?.includes(edge) === true }))
    .toSorted((a, b) => Number(a.isTaken) - Number(b.isTaken));
  return (
    <div
      ref={box}
      class="graph-box"
      tabIndex={0}
      role="region"
      aria-label={t("graphLabel")}
      dir="ltr"
    >
      <div
        class={taken === undefined ? "graph" : "graph has-path"}
        style={{ width: `${width}px`, height: `${height}px`, zoom }}
      >
        <svg class="graph-edges" width={width} height={height} aria-hidden="true">
          <defs>
            <Arrow id={`${id}-arrow`} />
            <Arrow id={`${id}-taken`} isTaken />
          </defs>
          {drawn.map(({ edge: { from, to, kind, path }, isTaken }, index) => (
            <path
              key={`${from} ${to} ${index}`}
              class={`graph-edge is-${kind} ${isTaken ? "is-taken" : ""}`}
              d={path}
              marker-end={`url(#${id}-${isTaken ? "taken" : "arrow"})`}
            />
          ))}
        </svg>
        {drawn.map(({ edge, isTaken }, index) => (
          <EdgeLabel key={index} edge={edge} isTaken={isTaken} />
        ))}
        <ol>
          {nodes.map((node) => (
            <Box
              key={node.index}
              node={node}
              taken={taken}
              isFaulty={faulty?.has(node.index) === true}
              isSelected={selected === node.index}
              onPick={onPick}
            />
          ))}
        </ol>
      </div>
    </div>
  );
}

/** Texts are hard to read below this zoom. A graph that does not fit then scrolls. */
const minZoom = 0.8;

/** Makes the graph fit the width of its box. */
function useZoom(box: RefObject<HTMLDivElement | null>, width: number): number {
  const [zoom, setZoom] = useState(1);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const available = entry?.contentRect.width ?? width;
      setZoom(Math.min(1, Math.max(minZoom, available / width)));
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [width]);
  return zoom;
}

const Arrow = ({ id, isTaken }: { readonly id: string; readonly isTaken?: boolean }) => (
  <marker
    id={id}
    class={isTaken === true ? "is-taken" : ""}
    viewBox="0 0 8 8"
    refX="6"
    refY="4"
    markerWidth="7"
    markerHeight="7"
    markerUnits="userSpaceOnUse"
    orient="auto"
  >
    <path d="M0 0 8 4 0 8Z" />
  </marker>
);

interface BoxProps {
  readonly node: GraphNode;
  readonly taken: TakenPath | undefined;
  readonly isFaulty: boolean;
  readonly isSelected: boolean;
  readonly onPick: ((index: number) => void) | undefined;
}

function Box({ node, taken, isFaulty, isSelected, onPick }: BoxProps): JSX.Element {
  const { step, index, x, y } = node;
  const isCurrent = taken?.current === step.id;
  const state = isCurrent
    ? "is-current"
    : taken?.entered.has(step.id) === true
      ? "is-entered"
      : isFaulty
        ? "is-faulty"
        : "";
  const content = (
    <>
      <span class="graph-node-title">
        <Icon name={isFaulty ? "alert" : stepIcons[step.type]} />
        <strong>{stepName(step.type)}</strong>
        <code class="muted truncate">{step.id}</code>
      </span>
      <bdi class="truncate">{summaryOf(step)}</bdi>
      {isCurrent && <span class="graph-node-here">{t("stepHere")}</span>}
      {state === "is-entered" && <span class="visually-hidden">{t("stepEntered")}</span>}
    </>
  );
  const box = `graph-node is-${step.type} ${state} ${isSelected ? "is-selected" : ""}`;
  const style = {
    left: `${x}px`,
    top: `${y}px`,
    width: `${nodeWidth}px`,
    height: `${nodeHeight}px`,
  };
  return (
    <li class="graph-place" style={style}>
      {onPick === undefined ? (
        <div class={box} data-tooltip={summaryOf(step)}>
          {content}
        </div>
      ) : (
        <button type="button" class={box} onClick={() => onPick(index)}>
          {content}
        </button>
      )}
    </li>
  );
}

interface EdgeLabelProps {
  readonly edge: GraphEdge;
  readonly isTaken: boolean;
}

function EdgeLabel({ edge, isTaken }: EdgeLabelProps): JSX.Element | null {
  const { kind, label, middle } = edge;
  const name = { next: undefined, case: label, fail: t("edgeFail"), error: t("edgeError") }[kind];
  if (name === undefined || name === "") return null;
  return (
    <span
      class={`graph-label is-${kind} truncate ${isTaken ? "is-taken" : ""}`}
      style={{ left: `${middle.x}px`, top: `${middle.y}px` }}
      data-tooltip={name}
    >
      {name}
    </span>
  );
}

export const stepIcons: { readonly [type in PlaybookStep["type"]]: IconName } = {
  send: "send",
  ask: "chat",
  set: "edit",
  run: "code",
  branch: "filter",
  instruct: "agent",
  call: "note",
  handoff: "handoff",
  resolve: "check",
};

/** The name of a step type. */
export const stepName = (type: PlaybookStep["type"]): string =>
  ({
    send: t("stepSend"),
    ask: t("stepAsk"),
    set: t("stepSet"),
    run: t("stepRun"),
    branch: t("stepBranch"),
    instruct: t("stepInstruct"),
    call: t("stepCall"),
    handoff: t("stepHandoff"),
    resolve: t("stepResolve"),
  })[type];

/** Summarizes what a step does. */
export function summaryOf(step: PlaybookStep): string {
  switch (step.type) {
    case "send":
    case "instruct":
      return step.text;
    case "ask":
      return step.slot;
    case "set":
      return Object.keys(step.values).join(", ");
    case "run":
      return step.action;
    case "branch":
      return step.cases.map(({ when }) => when).join(" · ");
    case "call":
      return step.playbook_id;
    case "handoff":
      return step.reason;
    case "resolve":
      return t("stepResolves");
  }
}
