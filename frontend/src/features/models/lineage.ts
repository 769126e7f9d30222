import dagre from '@dagrejs/dagre';
import type { Lineage, LineageNode } from '@/api/contract/models';

export const NODE_WIDTH = 210;
export const NODE_HEIGHT = 58;
/** Smaller than this a node's text cannot be read: the picture is dragged instead of shrunk. */
export const SMALLEST_ZOOM = 0.85;

/** Sources on the left, or on top where the picture would be too wide to be read. */
export type Direction = 'LR' | 'TB';

export interface Placed {
  node: LineageNode;
  x: number;
  y: number;
}

/** Positions (top left corner, pixels) of every node. */
export function layOut({ nodes, edges }: Lineage, direction: Direction): Placed[] {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: direction, nodesep: 22, ranksep: direction === 'LR' ? 48 : 36 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const known = new Set(nodes.map((node) => node.id));
  for (const { from, to } of edges) if (known.has(from) && known.has(to)) graph.setEdge(from, to);
  dagre.layout(graph);
  return nodes.map((node) => {
    const { x, y } = graph.node(node.id);
    return { node, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
  });
}

/** Left to right if that can be read at `width` pixels, else top to bottom. */
export function directionFor(lineage: Lineage, width: number): Direction {
  const right = Math.max(...layOut(lineage, 'LR').map(({ x }) => x + NODE_WIDTH));
  return right * SMALLEST_ZOOM <= width ? 'LR' : 'TB';
}
