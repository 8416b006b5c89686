/** The steps of a playbook as a graph: boxes in layers, and the ways between them. */
import type { PlaybookStep } from "../../../../../src/index.ts";

/** One step, placed. */
export interface GraphNode {
  readonly step: PlaybookStep;
  readonly x: number;
  readonly y: number;
}

/** One way from a step to another. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Which way it is. Undefined for the usual one. */
  readonly kind: "next" | "case" | "fail" | "error";
  readonly label: string | undefined;
  /** The drawn curve, as the path of an SVG. */
  readonly path: string;
  /** The middle of the curve, for its label. */
  readonly middle: { readonly x: number; readonly y: number };
}

/** A graph that fits into `width` by `height` pixels. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly width: number;
  readonly height: number;
}

export const nodeWidth = 220;
export const nodeHeight = 64;
const gapX = 40;
const gapY = 52;
/** Room for curves that go back up. */
const marginX = 36;

type Way = Omit<GraphEdge, "path" | "middle">;

/** Places the steps: each in the layer of its least distance from the first step. */
export function graphOf(steps: readonly PlaybookStep[]): Graph {
  const ways = steps.flatMap((step, index) => waysOf(step, steps[index + 1]));
  const layers = layersOf(steps, ways);
  const widest = Math.max(1, ...layers.map((layer) => layer.length));
  const width = widest * nodeWidth + (widest - 1) * gapX + 2 * marginX;
  const nodes = layers.flatMap((layer, row) => {
    const own = layer.length * nodeWidth + (layer.length - 1) * gapX;
    return layer.map((step, column) => ({
      step,
      x: (width - own) / 2 + column * (nodeWidth + gapX),
      y: row * (nodeHeight + gapY),
    }));
  });
  const byId = new Map(nodes.map((node) => [node.step.id, node]));
  const edges = ways.flatMap((way) => {
    const from = byId.get(way.from);
    const to = byId.get(way.to);
    return from === undefined || to === undefined ? [] : [{ ...way, ...curve(from, to, width) }];
  });
  const height = layers.length * (nodeHeight + gapY) - gapY;
  return { nodes, edges, width, height };
}

function waysOf(step: PlaybookStep, following: PlaybookStep | undefined): Way[] {
  const ways: Way[] = [];
  const from = step.id;
  const add = (to: string | undefined, kind: Way["kind"], label?: string): void => {
    if (to !== undefined) ways.push({ from, to, kind, label });
  };
  if (step.type === "branch") for (const each of step.cases) add(each.next, "case", each.when);
  if (step.type === "ask") add(step.on_fail, "fail");
  if (step.type === "run") add(step.on_error, "error");
  if (step.type !== "handoff" && step.type !== "resolve") add(step.next ?? following?.id, "next");
  return ways;
}

function layersOf(steps: readonly PlaybookStep[], ways: readonly Way[]): PlaybookStep[][] {
  const [first] = steps;
  const layers: PlaybookStep[][] = [];
  const seen = new Set<string>();
  let layer = first === undefined ? [] : [first];
  while (layer.length > 0) {
    layers.push(layer);
    for (const { id } of layer) seen.add(id);
    const ids = layer.flatMap(({ id }) => ways.filter(({ from }) => from === id));
    const next = new Set(ids.map(({ to }) => to).filter((id) => !seen.has(id)));
    layer = steps.filter(({ id }) => next.has(id));
  }
  // Steps that only a cancellation reaches stand at the end.
  const rest = steps.filter(({ id }) => !seen.has(id));
  return rest.length === 0 ? layers : [...layers, rest];
}

function curve(from: GraphNode, to: GraphNode, width: number): Pick<GraphEdge, "path" | "middle"> {
  const x1 = from.x + nodeWidth / 2;
  const x2 = to.x + nodeWidth / 2;
  if (to.y > from.y) {
    const y1 = from.y + nodeHeight;
    const y2 = to.y - 6;
    const bend = Math.min(60, (y2 - y1) / 2);
    return {
      path: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
      middle: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 },
    };
  }
  // A way back, or to a step at the side: around the right.
  const right = Math.min(width - 8, Math.max(from.x, to.x) + nodeWidth + marginX - 8);
  const y1 = from.y + nodeHeight / 2;
  const y2 = to.y + nodeHeight / 2;
  const end = to.x + nodeWidth + 6;
  return {
    path: `M${from.x + nodeWidth} ${y1}C${right} ${y1} ${right} ${y2} ${end} ${y2}`,
    middle: { x: right - 8, y: (y1 + y2) / 2 },
  };
}
