/** The positions of boxes and edges in their layers, so that few edges cross. */
import type { StepEdge } from "./layers.ts";

/** The size of a box, in pixels. */
export const nodeWidth = 200;
export const nodeHeight = 56;
const gapX = 32;
const gapY = 56;
/** The width that an edge takes in a layer that it passes. */
const passWidth = 24;
/** How often each of the two algorithms goes through the layers, down and up in turn. */
const sweeps = 6;

/** A box in a layer, or the place of an edge that passes the layer. */
export interface Cell {
  readonly layer: number;
  readonly width: number;
  /** The neighbors in the layer above. */
  readonly above: Cell[];
  /** The neighbors in the layer below. */
  readonly below: Cell[];
  /** The horizontal center. */
  x: number;
}

/** An edge that leads down, with a cell for each layer from its first to its last. */
export interface Route {
  readonly edge: StepEdge;
  readonly cells: readonly Cell[];
}

/** Makes a cell that has no neighbors yet. */
const newCell = (layer: number, width: number): Cell => ({
  layer,
  width,
  above: [],
  below: [],
  x: 0,
});

/** Makes the box of a step. */
export const newBox = (layer: number): Cell => newCell(layer, nodeWidth);

/** The top of a layer. */
export const topOf = (layer: number): number => layer * (nodeHeight + gapY);

/** The height of a graph with this number of layers. */
export const heightOf = (layers: number): number => Math.max(0, topOf(layers) - gapY);

/** Returns the route of an edge, and makes its cells neighbors. None if a box is missing. */
export function routeOf(edge: StepEdge, boxes: readonly Cell[]): Route[] {
  const [from, to] = [boxes[edge.from], boxes[edge.to]];
  if (from === undefined || to === undefined) return [];
  const passed = Array.from({ length: to.layer - from.layer - 1 }, (_, index) =>
    newCell(from.layer + index + 1, passWidth),
  );
  const cells = [from, ...passed, to];
  for (const [index, lower] of cells.slice(1).entries()) {
    const upper = cells[index];
    upper?.below.push(lower);
    if (upper !== undefined) lower.above.push(upper);
  }
  return [{ edge, cells }];
}

/** Decides the order of the cells in each layer, and sets their `x`. Returns the layers. */
export function placeCells(boxes: readonly Cell[], routes: readonly Route[]): Cell[][] {
  const layers = ordered([...boxes, ...routes.flatMap(({ cells }) => cells.slice(1, -1))]);
  position(layers);
  return layers;
}

/**
 * Returns the layers, each in an order in which few edges cross. A cell goes to the mean place of
 * its neighbors in the layer before (the barycenter method).
 */
function ordered(cells: readonly Cell[]): Cell[][] {
  const count = Math.max(0, ...cells.map(({ layer }) => layer + 1));
  const layers = Array.from({ length: count }, (_, index) =>
    cells.filter(({ layer }) => layer === index),
  );
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const places = new Map(
        layers.flatMap((each) => each.map((cell, index) => [cell, index] as const)),
      );
      const placeOf = (cell: Cell): number => places.get(cell) ?? 0;
      const means = new Map(
        layer.map((cell) => {
          const neighbors = isDown ? cell.above : cell.below;
          return [cell, average(neighbors.map(placeOf)) ?? placeOf(cell)];
        }),
      );
      layer.sort((a, b) => (means.get(a) ?? 0) - (means.get(b) ?? 0));
    }
  }
  return layers;
}

/** Moves each cell towards its neighbors, as far as the others of its layer allow. */
function position(layers: readonly Cell[][]): void {
  for (const layer of layers) {
    const indexes = layer.map((_, index) => index);
    spaceOut(layer, indexes);
  }
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const desired = layer.map(
        ({ above, below, x }) => average((isDown ? above : below).map((each) => each.x)) ?? x,
      );
      spaceOut(layer, desired);
    }
  }
}

/**
 * Moves the cells of a layer close to their desired positions. One pass moves cells only to the
 * right, the other only to the left. Each keeps the minimum distances, and so does the mean of the
 * two.
 */
function spaceOut(layer: readonly Cell[], desired: readonly number[]): void {
  const distance = (index: number): number =>
    ((layer[index - 1]?.width ?? 0) + (layer[index]?.width ?? 0)) / 2 + gapX;
  const rightward: number[] = [];
  for (const [index, x] of desired.entries()) {
    const before = rightward[index - 1];
    rightward.push(before === undefined ? x : Math.max(x, before + distance(index)));
  }
  const leftward: number[] = [];
  for (const [index, x] of [...desired.entries()].toReversed()) {
    const after = leftward[index + 1];
    leftward[index] = after === undefined ? x : Math.min(x, after - distance(index + 1));
  }
  for (const [index, cell] of layer.entries()) {
    cell.x = ((rightward[index] ?? 0) + (leftward[index] ?? 0)) / 2;
  }
}

function average(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
