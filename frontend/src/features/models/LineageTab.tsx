import { Card, Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { IconHierarchy2 } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { LineageNode } from '@/api/contract/models';
import { whenReachable } from '@/shared/live/connection';
import { CopyId } from '@/shared/ui/CopyId';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { usePrinting } from '@/shared/ui/print/printing';
import { useStored } from '@/shared/ui/stored';
import { KindIcon } from './KindIcon';
import { lineageRows } from './lineageRows';
import { nodeWords } from './lineageWords';
import { useLineage } from './queries';

// React Flow and dagre are larger than the rest of the page.
const LineageGraph = lazy(whenReachable(async () => ({ default: (await import('./LineageGraph')).LineageGraph })));

export function LineageTab({ name, number }: { name: string; number: number }) {
  const { t } = useTranslation();
  const router = useRouter();
  const { data, error, refetch } = useLineage(name, number);
  const printing = usePrinting();
  const [view, setView] = useStored('atom-lineage-view', 'graph');
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={420} radius="md" />;
  if (data.nodes.length === 0) return <EmptyState icon={IconHierarchy2} title={t('models.noLineage')} />;
  const open = (url: string) => void router.navigate({ href: url });
  return (
    <>
      <SegmentedControl
        size="xs"
        mb="sm"
        aria-label={t('models.lineageView')}
        value={view}
        onChange={setView}
        data={[
          { value: 'graph', label: t('models.asGraph') },
          { value: 'list', label: t('models.asList') },
        ]}
      />
      {/* A graph that can be moved about is cut off on paper. */}
      {view === 'list' || printing ? (
        <LineageList rows={lineageRows(data)} onOpen={open} />
      ) : (
        <Suspense fallback={<Skeleton height={420} radius="md" />}>
          <LineageGraph lineage={data} focusUrl={`/models/${name}/versions/${number}`} onOpen={open} />
        </Suspense>
      )}
    </>
  );
}

function NodeLink({ node, onOpen }: { node: LineageNode; onOpen: (url: string) => void }) {
  const { t } = useTranslation();
  const { title } = nodeWords(node, t, useFormat());
  if (!node.url) return <span>{title}</span>;
  const url = node.url;
  return (
    <a
      href={url}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onOpen(url);
      }}
      style={{ color: 'var(--mantine-color-anchor)' }}
    >
      {title}
    </a>
  );
}

function LineageList({ rows, onOpen }: { rows: ReturnType<typeof lineageRows>; onOpen: (url: string) => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const about = (node: LineageNode) => {
    const { kind, subtitle } = nodeWords(node, t, format);
    return `${kind} ${subtitle}`;
  };
  return (
    <Card p={0} component="ul" style={{ listStyle: 'none', margin: 0 }}>
      {rows.map(({ node, from }) => (
        <Group key={node.id} component="li" gap="sm" px="md" py={8} wrap="nowrap">
          <KindIcon kind={node.kind} />
          <div style={{ minWidth: 0, flex: 1 }}>
            <Text size="sm" fw={600} component="div">
              <NodeLink node={node} onOpen={onOpen} />{' '}
              <Text span size="xs" c="dimmed" fw={400}>
                {about(node)}
              </Text>
            </Text>
            {from.length > 0 && (
              <Text size="xs" c="dimmed" component="div">
                {t('models.madeFrom')}{' '}
                {from.map((source, index) => (
                  <span key={source.node.id}>
                    {index > 0 && ', '}
                    <NodeLink node={source.node} onOpen={onOpen} />
                  </span>
                ))}
              </Text>
            )}
          </div>
          {node.digest && <CopyId value={node.digest} />}
        </Group>
      ))}
    </Card>
  );
}
