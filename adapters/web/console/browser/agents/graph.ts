/**
 * The steps of a playbook as a graph: boxes in layers, and the ways between them. A way leads down,
 * unless it closes a loop. A way over several layers has a place of its own in each.
 */
import type { PlaybookStep } from "../../../../../src/index.ts";

/** One step, placed. */
export interface GraphNode {
  readonly step: PlaybookStep;
  /** The place of the step in the list. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** One way from a step to another. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: "next" | "case" | "fail" | "error";
  /** The condition of a case. */
  readonly label: string | undefined;
  /** The drawn curve, as the path of an SVG. */
  readonly path: string;
  /** Where the label stands. */
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
/** The room of a way that passes a layer. */
const passWidth = 24;
/** Room beside the boxes for the curves of loops. */
const margin = 12;
const loopGap = 14;
/** The room of a label beside a box. */
const labelWidth = 112;

/** A way between two places in the list of steps. */
interface Way {
  readonly from: number;
  readonly to: number;
  readonly kind: GraphEdge["kind"];
  readonly label: string | undefined;
}

/** A box in a layer, or the place of a way that passes it. */
interface Cell {
  readonly layer: number;
  readonly width: number;
  /** The neighbours in the layer above. */
  readonly above: Cell[];
  readonly below: Cell[];
  /** The middle. */
  x: number;
}

/** A way that leads down, with a cell for each layer from its first to its last. */
interface Route {
  readonly way: Way;
  readonly cells: readonly Cell[];
}

/** Places the steps and the ways between them. */
export function graphOf(steps: readonly PlaybookStep[]): Graph {
  const ways = waysOf(steps);
  const order = orderOf(steps.length, ways);
  const { loops } = order;
  const layerOf = layersOf(order, ways);
  const boxes = steps.map((_, index) => cell(layerOf.get(index) ?? 0, nodeWidth));
  const routes = ways.filter((way) => !loops.has(way)).flatMap((way) => routeOf(way, boxes));
  const layers = ordered([...boxes, ...routes.flatMap(({ cells }) => cells.slice(1, -1))]);
  place(layers);
  const all = layers.flat();
  const left = Math.min(0, ...all.map(({ x, width }) => x - width / 2)) - margin;
  const right = Math.max(0, ...all.map(({ x, width }) => x + width / 2)) - left;
  const nodes = steps.map((step, index) => {
    const { x, layer } = boxes[index] ?? { x: 0, layer: 0 };
    return { step, index, x: x - left - nodeWidth / 2, y: layer * (nodeHeight + gapY) };
  });
  const named = ({ from, to, kind, label }: Way) => {
    return { from: steps[from]?.id ?? "", to: steps[to]?.id ?? "", kind, label };
  };
  const down = routes.map((route) => ({
    ...named(route.way),
    ...curve(pointsOf(route, routes, left)),
  }));
  const isLabelled = [...loops].some(({ kind }) => kind !== "next");
  const labelRoom = isLabelled ? labelWidth / 2 : 0;
  const up = [...loops].map((way, lane) => {
    const [from, to] = [nodes[way.from], nodes[way.to]];
    const x = right + labelRoom + (lane + 1) * loopGap;
    return { ...named(way), ...loop(from ?? origin, to ?? origin, x) };
  });
  const height = layers.length * (nodeHeight + gapY) - gapY;
  const width = right + labelRoom + margin + loops.size * loopGap;
  return { nodes, edges: [...down, ...up], width, height: Math.max(0, height) };
}

const origin: Point = { x: 0, y: 0 };

const cell = (layer: number, width: number): Cell => ({ layer, width, above: [], below: [], x: 0 });

function waysOf(steps: readonly PlaybookStep[]): readonly Way[] {
  return steps.flatMap((step, from) => {
    const ways: Way[] = [];
    const add = (id: string | undefined, kind: Way["kind"], label?: string): void => {
      const to = steps.findIndex((each) => each.id === id);
      if (id !== undefined && to !== -1) ways.push({ from, to, kind, label });
    };
    if (step.type === "branch") for (const each of step.cases) add(each.next, "case", each.when);
    if (step.type === "ask") add(step.on_fail, "fail");
    if (step.type === "run") add(step.on_error, "error");
    if (step.type !== "handoff" && step.type !== "resolve") {
      add(step.next ?? steps[from + 1]?.id, "next");
    }
    return ways;
  });
}

interface Order {
  /** The places of the steps, each before those that it leads down to. */
  readonly places: readonly number[];
  /** Ways that lead back to a step above them. */
  readonly loops: ReadonlySet<Way>;
}

/** Decides which ways lead down. What the first step does not lead to comes last. */
function orderOf(count: number, ways: readonly Way[]): Order {
  const loops = new Set<Way>();
  const places: number[] = [];
  const done = new Set<number>();
  for (let start = 0; start < count; start += 1) {
    const earlier = new Set(done);
    const path = new Set<number>();
    const found: number[] = [];
    const follow = (at: number): void => {
      if (done.has(at)) return;
      path.add(at);
      for (const way of ways.filter(({ from }) => from === at)) {
        // A way to what the first step leads to would pull that below the rest.
        if (path.has(way.to) || earlier.has(way.to)) loops.add(way);
        else follow(way.to);
      }
      path.delete(at);
      done.add(at);
      found.push(at);
    };
    follow(start);
    places.push(...found.toReversed());
  }
  return { places, loops };
}

/** Returns the layer of each step: below all that lead down to it. */
function layersOf({ places, loops }: Order, ways: readonly Way[]): ReadonlyMap<number, number> {
  const layers = new Map<number, number>();
  for (const at of places) {
    const layer = layers.get(at) ?? Math.max(-1, ...layers.values()) + 1;
    layers.set(at, layer);
    for (const way of ways) {
      if (way.from !== at || loops.has(way)) continue;
      layers.set(way.to, Math.max(layers.get(way.to) ?? 0, layer + 1));
    }
  }
  return layers;
}

function routeOf(way: Way, boxes: readonly Cell[]): Route[] {
  const [from, to] = [boxes[way.from], boxes[way.to]];
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
  return [{ way, cells }];
}

const sweeps = 6;

/** The layers, each in an order in which few ways cross. */
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
function place(layers: readonly Cell[][]): void {
  for (const layer of layers) {
    const places = layer.map((_, index) => index);
    spread(layer, places);
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
 * Places the cells of a layer near where they wish to be. Both passes keep the distances, and so
 * does their mean.
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

/** The points of a way. Several ways of one box leave and reach it side by side. */
function pointsOf({ way, cells }: Route, routes: readonly Route[], left: number): Point[] {
  const port = (end: Cell | undefined, next: Cell | undefined, siblings: readonly Route[]) => {
    const sorted = siblings.toSorted((a, b) => besideOf(a, end) - besideOf(b, end));
    const place = sorted.findIndex((each) => each.way === way);
    const share = (place + 1) / (siblings.length + 1);
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

/** Where a route comes from or goes to, seen from one of its ends. */
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

/** A way back up, around the right of all boxes. */
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
