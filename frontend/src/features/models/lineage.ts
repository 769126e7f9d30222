import dagre from '@dagrejs/dagre';
import type { Lineage, LineageNode } from '@/api/contract/models';

export const NODE_WIDTH = 210;
export const NODE_HEIGHT = 54;

export interface Placed {
  node: LineageNode;
  x: number;
  y: number;
}

/** Positions (top left corner, pixels) of every node, sources on the left. */
export function layOut({ nodes, edges }: Lineage): Placed[] {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 22, ranksep: 64 });
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
