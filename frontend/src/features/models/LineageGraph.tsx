import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
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
import { useFormat } from '@/shared/ui/format';
import { KindIcon } from './KindIcon';
import { type Direction, directionFor, layOut, SMALLEST_ZOOM } from './lineage';
import { edgeWords, type NodeWords, nodeWords } from './lineageWords';
import classes from './models.module.css';

type CardNode = Node<{ node: LineageNode; focus: boolean; words: NodeWords; direction: Direction }, 'card'>;

function Card({ data: { node, focus, words, direction } }: NodeProps<CardNode>) {
  const [before, after] = direction === 'LR' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom];
  return (
    <div className={classes.node} data-focus={focus || undefined} data-linked={node.url ? true : undefined}>
      <Handle type="target" position={before} isConnectable={false} />
      <KindIcon kind={node.kind} />
      <span className={classes.nodeText}>
        <span className={classes.nodeTitle}>{words.title}</span>
        <span className={classes.nodeSub}>{words.subtitle || words.kind}</span>
      </span>
      <Handle type="source" position={after} isConnectable={false} />
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

/** The graph from the sources of the model to its uses. */
export function LineageGraph({ lineage, focusUrl, onOpen }: LineageGraphProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const dark = useComputedColorScheme('light') === 'dark';
  const { ref, width } = useElementSize();
  const direction = useMemo(() => directionFor(lineage, width), [lineage, width]);
  const nodes = useMemo(
    () =>
      layOut(lineage, direction).map(({ node, x, y }): CardNode => {
        const words = nodeWords(node, t, format);
        return {
          id: node.id,
          type: 'card',
          position: { x, y },
          data: { node, words, direction, focus: node.kind === 'model_version' && node.url === focusUrl },
          ariaLabel: t('models.nodeLabel', { ...words }),
        };
      }),
    [lineage, direction, focusUrl, t, format],
  );
  const edges = useMemo(
    () =>
      lineage.edges.map(
        (edge): Edge => ({
          id: `${edge.from}→${edge.to}`,
          source: edge.from,
          target: edge.to,
          ariaLabel: edgeWords(edge, lineage.nodes, t, format),
          markerEnd: { type: MarkerType.ArrowClosed },
        }),
      ),
    [lineage, t, format],
  );
  const open = (node: Node) => {
    const url = (node as CardNode).data.node.url;
    if (url) onOpen(url);
  };
  return (
    <section className={classes.graph} aria-label={t('models.lineage')} ref={ref}>
      {width > 0 && (
        <ReactFlow
          key={direction}
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          colorMode={dark ? 'dark' : 'light'}
          fitView
          fitViewOptions={{ minZoom: SMALLEST_ZOOM, maxZoom: 1.1, padding: 0.06 }}
          minZoom={0.2}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          onNodeClick={(_event, node) => open(node)}
          ariaLabelConfig={{
            'node.a11yDescription.default': t('models.nodeHint'),
            'controls.ariaLabel': t('models.view'),
            'controls.zoomIn.ariaLabel': t('models.zoomIn'),
            'controls.zoomOut.ariaLabel': t('models.zoomOut'),
            'controls.fitView.ariaLabel': t('models.fitView'),
          }}
        >
          <Background gap={18} />
          <Controls showInteractive={false} />
        </ReactFlow>
      )}
    </section>
  );
}
