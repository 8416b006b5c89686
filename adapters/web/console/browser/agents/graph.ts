/**
 * Lays out the steps of a playbook as a graph: boxes in layers, and the edges between them. An edge
 * leads down, unless it closes a loop. An edge that spans several layers has a cell in each layer
 * between.
 */
import type { PlaybookStep } from "../../../../../src/index.ts";

/** One step, placed. */
export interface GraphNode {
  readonly step: PlaybookStep;
  /** The index of the step in the list. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** An edge from one step to another. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: "next" | "case" | "fail" | "error";
  /** The condition of a case. */
  readonly label: string | undefined;
  /** The drawn curve, as the path of an SVG. */
  readonly path: string;
  /** The position of the label. */
  readonly middle: Point;
}

/** A graph that fits into `width` by `height` pixels. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export const nodeWidth = 200;
export const nodeHeight = 56;
const gapX = 32;
const gapY = 56;
/** The width that an edge takes in a layer that it passes. */
const passWidth = 24;
/** The space beside the boxes for the curves of loops. */
const margin = 12;
const loopGap = 14;
/** The width of a label beside a box. */
const labelWidth = 112;

/** An edge between two steps, which are indexes of the list. */
interface StepEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: GraphEdge["kind"];
  readonly label: string | undefined;
}

/** A box in a layer, or an edge that passes the layer. */
interface Cell {
  readonly layer: number;
  readonly width: number;
  /** The neighbours in the layer above. */
  readonly above: Cell[];
  readonly below: Cell[];
  /** The horizontal center. */
  x: number;
}

/** An edge that leads down, with a cell for each layer from its first to its last. */
interface Route {
  readonly edge: StepEdge;
  readonly cells: readonly Cell[];
}

/** Computes the positions of the steps and the curves of the edges. */
export function graphOf(steps: readonly PlaybookStep[]): Graph {
  const edges = edgesOf(steps);
  const order = orderOf(steps.length, edges);
  const { loops } = order;
  const layerOf = layersOf(order, edges);
  const boxes = steps.map((_, index) => cell(layerOf.get(index) ?? 0, nodeWidth));
  const routes = edges.filter((edge) => !loops.has(edge)).flatMap((edge) => routeOf(edge, boxes));
  const layers = ordered([...boxes, ...routes.flatMap(({ cells }) => cells.slice(1, -1))]);
  position(layers);
  const all = layers.flat();
  const left = Math.min(0, ...all.map(({ x, width }) => x - width / 2)) - margin;
  const right = Math.max(0, ...all.map(({ x, width }) => x + width / 2)) - left;
  const nodes = steps.map((step, index) => {
    const { x, layer } = boxes[index] ?? { x: 0, layer: 0 };
    return { step, index, x: x - left - nodeWidth / 2, y: layer * (nodeHeight + gapY) };
  });
  const named = ({ from, to, kind, label }: StepEdge) => {
    return { from: steps[from]?.id ?? "", to: steps[to]?.id ?? "", kind, label };
  };
  const down = routes.map((route) => ({
    ...named(route.edge),
    ...curve(pointsOf(route, routes, left)),
  }));
  const isLabelled = [...loops].some(({ kind }) => kind !== "next");
  const labelSpace = isLabelled ? labelWidth / 2 : 0;
  const up = [...loops].map((edge, lane) => {
    const [from, to] = [nodes[edge.from], nodes[edge.to]];
    const x = right + labelSpace + (lane + 1) * loopGap;
    return { ...named(edge), ...loop(from ?? origin, to ?? origin, x) };
  });
  const height = layers.length * (nodeHeight + gapY) - gapY;
  const width = right + labelSpace + margin + loops.size * loopGap;
  return { nodes, edges: [...down, ...up], width, height: Math.max(0, height) };
}

const origin: Point = { x: 0, y: 0 };

const cell = (layer: number, width: number): Cell => ({ layer, width, above: [], below: [], x: 0 });

function edgesOf(steps: readonly PlaybookStep[]): readonly StepEdge[] {
  return steps.flatMap((step, from) => {
    const edges: StepEdge[] = [];
    const add = (id: string | undefined, kind: StepEdge["kind"], label?: string): void => {
      const to = steps.findIndex((each) => each.id === id);
      if (id !== undefined && to !== -1) edges.push({ from, to, kind, label });
    };
    if (step.type === "branch") for (const each of step.cases) add(each.next, "case", each.when);
    if (step.type === "ask") add(step.on_fail, "fail");
    if (step.type === "run") add(step.on_error, "error");
    if (step.type !== "handoff" && step.type !== "resolve") {
      add(step.next ?? steps[from + 1]?.id, "next");
    }
    return edges;
  });
}

interface Order {
  /** The indexes of the steps. Each step comes before the steps that it leads down to. */
  readonly indexes: readonly number[];
  /** The edges that lead back up. */
  readonly loops: ReadonlySet<StepEdge>;
}

/** Decides which edges lead down. Steps that the first step does not reach come last. */
function orderOf(count: number, edges: readonly StepEdge[]): Order {
  const loops = new Set<StepEdge>();
  const indexes: number[] = [];
  const done = new Set<number>();
  for (let start = 0; start < count; start += 1) {
    const earlier = new Set(done);
    const path = new Set<number>();
    const found: number[] = [];
    const follow = (at: number): void => {
      if (done.has(at)) return;
      path.add(at);
      for (const edge of edges.filter(({ from }) => from === at)) {
        // An edge down to a step of an earlier start would move that step below this one.
        if (path.has(edge.to) || earlier.has(edge.to)) loops.add(edge);
        else follow(edge.to);
      }
      path.delete(at);
      done.add(at);
      found.push(at);
    };
    follow(start);
    indexes.push(...found.toReversed());
  }
  return { indexes, loops };
}

/** Returns the layer of each step. It is below all steps that lead down to it. */
function layersOf(
  { indexes, loops }: Order,
  edges: readonly StepEdge[],
): ReadonlyMap<number, number> {
  const layers = new Map<number, number>();
  for (const at of indexes) {
    const layer = layers.get(at) ?? Math.max(-1, ...layers.values()) + 1;
    layers.set(at, layer);
    for (const edge of edges) {
      if (edge.from !== at || loops.has(edge)) continue;
      layers.set(edge.to, Math.max(layers.get(edge.to) ?? 0, layer + 1));
    }
  }
  return layers;
}

function routeOf(edge: StepEdge, boxes: readonly Cell[]): Route[] {
  const [from, to] = [boxes[edge.from], boxes[edge.to]];
  if (from === undefined || to === undefined) return [];
  const passed = Array.from({ length: to.layer - from.layer - 1 }, (_, index) =>
    cell(from.layer + index + 1, passWidth),
  );
  const cells = [from, ...passed, to];
  for (const [index, lower] of cells.slice(1).entries()) {
    const upper = cells[index];
    upper?.below.push(lower);
    if (upper !== undefined) lower.above.push(upper);
  }
  return [{ edge, cells }];
}

const sweeps = 6;

/** Returns the layers, each in an order in which few edges cross. */
function ordered(cells: readonly Cell[]): Cell[][] {
  const count = Math.max(0, ...cells.map(({ layer }) => layer + 1));
  const layers = Array.from({ length: count }, (_, at) =>
    cells.filter(({ layer }) => layer === at),
  );
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const at = new Map(layers.flatMap((each) => each.map((one, index) => [one, index] as const)));
      const mean = (one: Cell): number =>
        average((isDown ? one.above : one.below).map((each) => at.get(each) ?? 0)) ??
        at.get(one) ??
        0;
      const means = new Map(layer.map((one) => [one, mean(one)]));
      layer.sort((a, b) => (means.get(a) ?? 0) - (means.get(b) ?? 0));
    }
  }
  return layers;
}

/** Moves each cell towards its neighbours, as far as the others of its layer allow. */
function position(layers: readonly Cell[][]): void {
  for (const layer of layers) {
    const indexes = layer.map((_, index) => index);
    spread(layer, indexes);
  }
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wishes = layer.map(
        ({ above, below, x }) => average((isDown ? above : below).map((each) => each.x)) ?? x,
      );
      spread(layer, wishes);
    }
  }
}

/**
 * Moves the cells of a layer close to the positions that they wish. Each of the two passes keeps
 * the minimum distances, and so does the mean of both.
 */
function spread(layer: readonly Cell[], wishes: readonly number[]): void {
  const distance = (index: number): number =>
    ((layer[index - 1]?.width ?? 0) + (layer[index]?.width ?? 0)) / 2 + gapX;
  const rightward: number[] = [];
  for (const [index, wish] of wishes.entries()) {
    const before = rightward[index - 1];
    rightward.push(before === undefined ? wish : Math.max(wish, before + distance(index)));
  }
  const leftward: number[] = [];
  for (const [index, wish] of [...wishes.entries()].toReversed()) {
    const after = leftward[index + 1];
    leftward[index] = after === undefined ? wish : Math.min(wish, after - distance(index + 1));
  }
  for (const [index, one] of layer.entries()) {
    one.x = ((rightward[index] ?? 0) + (leftward[index] ?? 0)) / 2;
  }
}

function average(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** Returns the points of an edge. The edges of one box start and end side by side. */
function pointsOf({ edge, cells }: Route, routes: readonly Route[], left: number): Point[] {
  const port = (end: Cell | undefined, next: Cell | undefined, siblings: readonly Route[]) => {
    const sorted = siblings.toSorted((a, b) => besideOf(a, end) - besideOf(b, end));
    const index = sorted.findIndex((each) => each.edge === edge);
    const share = (index + 1) / (siblings.length + 1);
    return (end?.x ?? next?.x ?? 0) - left + (share - 0.5) * (nodeWidth * 0.8);
  };
  const [first, last] = [cells[0], cells.at(-1)];
  const y = ({ layer }: Cell): number => layer * (nodeHeight + gapY);
  return cells.flatMap((one) => {
    if (one === first) {
      const x = port(
        first,
        cells[1],
        routes.filter((each) => each.cells[0] === first),
      );
      return [{ x, y: y(one) + nodeHeight }];
    }
    if (one === last) {
      const x = port(
        last,
        cells.at(-2),
        routes.filter((each) => each.cells.at(-1) === last),
      );
      return [{ x, y: y(one) - 6 }];
    }
    const x = one.x - left;
    return [
      { x, y: y(one) },
      { x, y: y(one) + nodeHeight },
    ];
  });
}

/** Returns the position of the cell that is next to one end of a route. */
const besideOf = ({ cells }: Route, end: Cell | undefined): number =>
  (cells[0] === end ? cells[1] : cells.at(-2))?.x ?? 0;

function curve(points: readonly Point[]): Pick<GraphEdge, "path" | "middle"> {
  const [first = origin, second = origin] = points;
  const path = points.slice(1).map((to, index) => {
    const from = points[index] ?? to;
    const bend = (to.y - from.y) / 2;
    return `C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`;
  });
  const middle = { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 };
  return { path: `M${first.x} ${first.y}${path.join("")}`, middle };
}

/** Draws an edge that leads back up, to the right of all boxes. */
function loop(from: Point, to: Point, right: number): Pick<GraphEdge, "path" | "middle"> {
  const y1 = from.y + nodeHeight * 0.65;
  const y2 = to.y + nodeHeight * 0.35;
  const end = to.x + nodeWidth + 6;
  const turn = Math.min(10, Math.abs(y1 - y2) / 2);
  const path =
    `M${from.x + nodeWidth} ${y1}H${right - turn}Q${right} ${y1} ${right} ${y1 - turn}` +
    `V${y2 + turn}Q${right} ${y2} ${right - turn} ${y2}H${end}`;
  return { path, middle: { x: from.x + nodeWidth + labelWidth / 2, y: y1 } };
}
