import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Lineage, LineageNode } from '@/api/contract/models';
import { KindIcon } from './KindIcon';
import { layOut } from './lineage';
import classes from './models.module.css';

type CardNode = Node<{ node: LineageNode; focus: boolean; kind: string }, 'card'>;

function Card({ data: { node, focus, kind } }: NodeProps<CardNode>) {
  return (
    <div className={classes.node} data-focus={focus || undefined} data-linked={node.url ? true : undefined}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <KindIcon kind={node.kind} />
      <span style={{ minWidth: 0 }}>
        <span
          style={{
            display: 'block',
            fontWeight: 600,
            fontSize: 13,
            overflow: 'hidden',
            textOverflow: 'ellipsis',
            whiteSpace: 'nowrap',
          }}
        >
          {node.title}
        </span>
        <span
          style={{
            display: 'block',
            fontSize: 12,
            color: 'var(--mantine-color-dimmed)',
            overflow: 'hidden',
            textOverflow: 'ellipsis',
            whiteSpace: 'nowrap',
          }}
        >
          {node.subtitle || kind}
        </span>
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

const NODE_TYPES = { card: Card };

export interface LineageGraphProps {
  lineage: Lineage;
  /** Address of the version that the page is about. */
  focusUrl: string;
  onOpen: (url: string) => void;
}

/** Left to right: what the model was made from, and what was made of it. */
export function LineageGraph({ lineage, focusUrl, onOpen }: LineageGraphProps) {
  const { t } = useTranslation();
  const dark = useComputedColorScheme('light') === 'dark';
  const nodes = useMemo(
    () =>
      layOut(lineage).map(({ node, x, y }): CardNode => {
        const kind = t(`models.kind.${node.kind}`, { defaultValue: node.kind });
        return {
          id: node.id,
          type: 'card',
          position: { x, y },
          data: { node, kind, focus: node.kind === 'model_version' && node.url === focusUrl },
          ariaLabel: t('models.nodeLabel', { kind, title: node.title, subtitle: node.subtitle }),
        };
      }),
    [lineage, focusUrl, t],
  );
  const edges = useMemo(
    () =>
      lineage.edges.map(
        ({ from, to, label }): Edge => ({
          id: `${from}→${to}`,
          source: from,
          target: to,
          ariaLabel: label,
          markerEnd: { type: MarkerType.ArrowClosed },
        }),
      ),
    [lineage.edges],
  );
  const open = (node: Node) => {
    const url = (node as CardNode).data.node.url;
    if (url) onOpen(url);
  };
  return (
    <section className={classes.graph} aria-label={t('models.lineage')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={dark ? 'dark' : 'light'}
        fitView
        fitViewOptions={{ maxZoom: 1.1, padding: 0.12 }}
        minZoom={0.2}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        onNodeClick={(_event, node) => open(node)}
        ariaLabelConfig={{ 'node.a11yDescription.default': t('models.nodeHint') }}
      >
        <Background gap={18} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}
