/**
 * Lays out the steps of a playbook as a layered graph: boxes in layers, and the edges between them.
 * An edge leads down, unless it closes a loop. An edge that spans several layers has a cell in each
 * layer between.
 */
import type { PlaybookStep } from "../../../../../../src/index.ts";
import { curveDown, curveUp, labelWidth, origin, type Curve } from "./curves.ts";
import { edgesOf, layersOf, type StepEdge } from "./layers.ts";
import { heightOf, newBox, nodeWidth, placeCells, routeOf, topOf } from "./positions.ts";

export { nodeHeight, nodeWidth } from "./positions.ts";

/** One step, placed. */
export interface GraphNode {
  readonly step: PlaybookStep;
  /** The index of the step in the list. */
  readonly index: number;
  /** The left edge of the box, in pixels. */
  readonly x: number;
  /** The top of the box, in pixels. */
  readonly y: number;
}

/** An edge from one step to another, drawn. */
export interface GraphEdge extends Curve {
  /** The ids of the steps. */
  readonly from: string;
  readonly to: string;
  readonly kind: StepEdge["kind"];
  /** The condition of a case. */
  readonly label: string | undefined;
}

/** A graph that fits into `width` by `height` pixels. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly width: number;
  readonly height: number;
}

/** The space beside the boxes. */
const margin = 12;
/** The distance between two edges that lead up. */
const laneWidth = 14;

/** Computes the positions of the steps and the curves of the edges. */
export function graphOf(steps: readonly PlaybookStep[]): Graph {
  const edges = edgesOf(steps);
  const { layerOf, backEdges } = layersOf(steps.length, edges);
  const boxes = steps.map((_, index) => newBox(layerOf.get(index) ?? 0));
  const routes = edges
    .filter((edge) => !backEdges.has(edge))
    .flatMap((edge) => routeOf(edge, boxes));
  const layers = placeCells(boxes, routes);
  const cells = layers.flat();
  const left = Math.min(0, ...cells.map(({ x, width }) => x - width / 2)) - margin;
  const right = Math.max(0, ...cells.map(({ x, width }) => x + width / 2)) - left;
  const nodes = steps.map((step, index) => {
    const { x, layer } = boxes[index] ?? { x: 0, layer: 0 };
    return { step, index, x: x - left - nodeWidth / 2, y: topOf(layer) };
  });
  const named = ({ from, to, kind, label }: StepEdge) => {
    return { from: steps[from]?.id ?? "", to: steps[to]?.id ?? "", kind, label };
  };
  const down = routes.map((route) => ({
    ...named(route.edge),
    ...curveDown(route, routes, left),
  }));
  const isLabelled = [...backEdges].some(({ kind }) => kind !== "next");
  const labelSpace = isLabelled ? labelWidth / 2 : 0;
  const up = [...backEdges].map((edge, lane) => {
    const [from, to] = [nodes[edge.from], nodes[edge.to]];
    const x = right + labelSpace + (lane + 1) * laneWidth;
    return { ...named(edge), ...curveUp(from ?? origin, to ?? origin, x) };
  });
  const width = right + labelSpace + margin + backEdges.size * laneWidth;
  return { nodes, edges: [...down, ...up], width, height: heightOf(layers.length) };
}
