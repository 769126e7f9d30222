import type { Lineage, LineageNode } from '@/api/contract/models';

export interface LineageRow {
  node: LineageNode;
  /** The sources that it was made from. */
  from: { node: LineageNode; label: string }[];
}

/** The graph as a list: every thing after its sources. */
export function lineageRows({ nodes, edges }: Lineage): LineageRow[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const rows: LineageRow[] = [];
  const done = new Set<string>();
  const visit = (node: LineageNode) => {
    if (done.has(node.id)) return;
    done.add(node.id);
    const from = edges.flatMap((edge) => {
      const source = edge.to === node.id ? byId.get(edge.from) : undefined;
      return source ? [{ node: source, label: edge.label }] : [];
    });
    for (const source of from) visit(source.node);
    rows.push({ node, from });
  };
  for (const node of nodes) visit(node);
  return rows;
}
