import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Playbook, PlaybookStep, Run } from "../../../../../src/index.ts";
import {
  api,
  Icon,
  type IconName,
  linkTo,
  place,
  Resource,
} from "../../../shared/browser/index.ts";
import { AsJson } from "../parts/json.tsx";
import { Card, Facts, LoadingPage, PageView } from "../parts/layout.tsx";
import { Copied } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { type GraphEdge, graphOf, nodeHeight, nodeWidth } from "./graph.ts";
import { EnableButton, EnabledBadge } from "./states.tsx";

/** One playbook: its steps as a graph, and its questions. */
export function PlaybookPage({ id }: { readonly id: string }): JSX.Element {
  const path = `v1/playbooks/${encodeURIComponent(id)}`;
  const { run: runId, agent } = place.value.query;
  const resource = useMemo(
    () => new Resource<Playbook>((signal) => api.get(path, {}, { signal })),
    [path],
  );
  const run = useMemo(
    () =>
      new Resource<Run>((signal) => api.get(`v1/agents/${agent}/runs/${runId}`, {}, { signal })),
    [agent, runId],
  );
  useEffect(() => {
    void resource.reload();
    if (runId !== undefined && agent !== undefined) void run.reload();
  }, [resource, run]);
  const { data, error } = resource.state.value;
  const back = { href: linkTo(["agents"]), label: t("agents") };
  if (data === undefined) {
    const title = t("playbook");
    return (
      <LoadingPage title={title} back={back} error={error} onRetry={() => void resource.reload()} />
    );
  }
  const said = { on: t("playbookEnabled"), off: t("playbookDisabled") };
  return (
    <PageView
      title={data.name}
      about={data.description}
      back={back}
      badge={<EnabledBadge enabled={data.enabled} />}
      actions={<EnableButton path={path} resource={resource} enabled={data.enabled} said={said} />}
    >
      <div class="message-page">
        <Card title={t("columnSteps")}>
          <StepGraph steps={data.steps} called={calledIn(run.data)} />
        </Card>
        <div class="message-side">
          <Card title={t("messageFields")}>
            <PlaybookFacts playbook={data} />
          </Card>
          <Slots playbook={data} />
        </div>
      </div>
      <AsJson value={data} />
    </PageView>
  );
}

/** The actions that a run called. */
const calledIn = (run: Run | undefined): ReadonlySet<string> =>
  new Set(run?.steps.flatMap(({ type, name }) => (type === "action" && name ? [name] : [])));

function PlaybookFacts({ playbook }: { readonly playbook: Playbook }): JSX.Element {
  const { id, trigger, version, on_cancel, max_turns } = playbook;
  return (
    <Facts
      of={[
        [t("triggerWords"), <bdi key="words">{trigger.keywords?.join(", ")}</bdi>],
        [t("triggerIntents"), <bdi key="intents">{trigger.intents?.join(", ")}</bdi>],
        [t("triggerWhen"), trigger.when && <code>{trigger.when}</code>],
        [t("triggerPriority"), trigger.priority],
        [t("playbookCancel"), on_cancel && <code>{on_cancel}</code>],
        [t("playbookTurns"), max_turns],
        [t("columnVersion"), version],
        [t("fieldId"), <Copied key="id" value={id} />],
      ]}
    />
  );
}

function Slots({ playbook: { slots } }: { readonly playbook: Playbook }): JSX.Element | null {
  if (slots.length === 0) return null;
  return (
    <Card title={t("slots")}>
      <ul class="slots">
        {slots.map(({ name, type, required, prompt }) => (
          <li key={name}>
            <p>
              <code class="strong">{name}</code>{" "}
              <span class="muted">
                {type}
                {!required && ` · ${t("slotOptional")}`}
              </span>
            </p>
            <bdi class="muted">{prompt}</bdi>
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface StepGraphProps {
  readonly steps: readonly PlaybookStep[];
  /** The actions that the highlighted run called. */
  readonly called: ReadonlySet<string>;
}

/** The graph. The steps are a list for screen readers. */
function StepGraph({ steps, called }: StepGraphProps): JSX.Element {
  const { nodes, edges, width, height } = useMemo(() => graphOf(steps), [steps]);
  return (
    <div class="graph-box" tabIndex={0} role="region" aria-label={t("graphLabel")} dir="ltr">
      <div class="graph" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg class="graph-edges" width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="6"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8Z" />
            </marker>
          </defs>
          {edges.map(({ from, to, kind, path }, index) => (
            <path
              key={`${from} ${to} ${index}`}
              class={`graph-edge is-${kind}`}
              d={path}
              marker-end="url(#arrow)"
            />
          ))}
        </svg>
        {edges.map((edge, index) => (
          <EdgeLabel key={index} edge={edge} />
        ))}
        <ol>
          {nodes.map(({ step, x, y }) => (
            <li
              key={step.id}
              class={`graph-node is-${step.type} ${
                step.type === "run" && called.has(step.action) ? "is-called" : ""
              }`}
              style={{
                left: `${x}px`,
                top: `${y}px`,
                width: `${nodeWidth}px`,
                height: `${nodeHeight}px`,
              }}
              data-tooltip={textOf(step)}
            >
              <span class="graph-node-title">
                <Icon name={icons[step.type]} />
                <strong>{step.type}</strong>
                <code class="muted truncate">{step.id}</code>
              </span>
              <bdi class="truncate">{textOf(step)}</bdi>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function EdgeLabel({
  edge: { kind, label, middle },
}: {
  readonly edge: GraphEdge;
}): JSX.Element | null {
  const name = { next: undefined, case: label, fail: t("edgeFail"), error: t("edgeError") }[kind];
  if (name === undefined) return null;
  return (
    <span
      class={`graph-label is-${kind} truncate`}
      style={{ left: `${middle.x}px`, top: `${middle.y}px` }}
      data-tooltip={name}
    >
      {name}
    </span>
  );
}

const icons: { readonly [type in PlaybookStep["type"]]: IconName } = {
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

/** What a step does, in a few words. */
function textOf(step: PlaybookStep): string {
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
      return t("stepResolve");
  }
}
