/** The curves of the edges, as paths of an SVG. */
import { nodeHeight, nodeWidth, topOf, type Cell, type Route } from "./positions.ts";

/** A point in pixels. `y` grows downwards. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A drawn edge. */
export interface Curve {
  /** The `d` of an SVG path. */
  readonly path: string;
  /** The position of the label. */
  readonly middle: Point;
}

export const origin: Point = { x: 0, y: 0 };

/** The width of a label beside a box. */
export const labelWidth = 112;
/** The length of an arrowhead, which ends at the box. */
const arrowLength = 6;
/** The part of a box's width on which edges start and end. */
const portShare = 0.8;

/** Draws an edge that leads down. `left` is the `x` of the cells at which the drawing begins. */
export function curveDown(route: Route, routes: readonly Route[], left: number): Curve {
  const points = pointsOf(route, routes, left);
  const [first = origin, second = origin] = points;
  const path = points.slice(1).map((to, index) => {
    const from = points[index] ?? to;
    const bend = (to.y - from.y) / 2;
    return `C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`;
  });
  const middle = { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 };
  return { path: `M${first.x} ${first.y}${path.join("")}`, middle };
}

/** Returns the points of an edge. The edges of one box start and end side by side. */
function pointsOf({ edge, cells }: Route, routes: readonly Route[], left: number): Point[] {
  const portX = (end: Cell, siblings: readonly Route[]): number => {
    const sorted = siblings.toSorted((a, b) => besideOf(a, end) - besideOf(b, end));
    const index = sorted.findIndex((each) => each.edge === edge);
    const share = (index + 1) / (siblings.length + 1);
    return end.x - left + (share - 0.5) * (nodeWidth * portShare);
  };
  const [first, last] = [cells[0], cells.at(-1)];
  return cells.flatMap((cell) => {
    const y = topOf(cell.layer);
    if (cell === first) {
      const siblings = routes.filter((each) => each.cells[0] === first);
      return [{ x: portX(cell, siblings), y: y + nodeHeight }];
    }
    if (cell === last) {
      const siblings = routes.filter((each) => each.cells.at(-1) === last);
      return [{ x: portX(cell, siblings), y: y - arrowLength }];
    }
    const x = cell.x - left;
    return [
      { x, y },
      { x, y: y + nodeHeight },
    ];
  });
}

/** Returns the position of the cell that is next to one end of a route. */
const besideOf = ({ cells }: Route, end: Cell): number =>
  (cells[0] === end ? cells[1] : cells.at(-2))?.x ?? 0;

/** Draws an edge that leads up, to the right of all boxes. */
export function curveUp(from: Point, to: Point, right: number): Curve {
  const startY = from.y + nodeHeight * 0.65;
  const endY = to.y + nodeHeight * 0.35;
  const endX = to.x + nodeWidth + arrowLength;
  const turn = Math.min(10, Math.abs(startY - endY) / 2);
  const path =
    `M${from.x + nodeWidth} ${startY}H${right - turn}` +
    `Q${right} ${startY} ${right} ${startY - turn}` +
    `V${endY + turn}Q${right} ${endY} ${right - turn} ${endY}H${endX}`;
  return { path, middle: { x: from.x + nodeWidth + labelWidth / 2, y: startY } };
}
