import { Anchor, List, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Lineage, LineageNode } from '@/api/contract/models';
import type { VersionAddress } from '../queries';
import { useLineage } from './queries';
import { Section } from './Section';

const KINDS = ['run', 'model_version', 'label_task'] as const;
type UsedKind = (typeof KINDS)[number];
const SHOWN = 20;

const isUse = (node: LineageNode): node is LineageNode & { kind: UsedKind } =>
  (KINDS as readonly string[]).includes(node.kind) && node.url !== null;

type Use = LineageNode & { word: UsedKind | 'maker' };

/** The uses of the version, the run that wrote it marked as such; of runs further back, none. */
function usesIn({ nodes, edges }: Lineage): Use[] {
  const wrote = edges.filter(({ label, to }) => label === 'wrote' && to.startsWith('dataset_version:'));
  const written = new Map(wrote.map(({ from, to }) => [from, to]));
  const version = nodes[0]?.id;
  return nodes
    .filter(isUse)
    .filter(({ id }) => !written.has(id) || written.get(id) === version)
    .map((node) => ({ ...node, word: written.has(node.id) ? 'maker' : node.kind }));
}

/** Uses of the version that this file is in: runs, the models that they made, the label tasks behind it. */
export function UsedIn({ address }: { address: VersionAddress }) {
  const { t } = useTranslation();
  const router = useRouter();
  const lineage = useLineage(address);
  const nodes = lineage.data ? usesIn(lineage.data) : [];
  return (
    <Section
      title={t('item.usedIn', { version: address.ref })}
      error={lineage.error}
      onRetry={() => void lineage.refetch()}
      isLoading={lineage.isPending}
    >
      {nodes.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('item.unused')}
        </Text>
      )}
      <List size="sm" spacing={4} listStyleType="none">
        {nodes.slice(0, SHOWN).map((node) => (
          <List.Item key={node.id}>
            {t(`item.use.${node.word}`)}{' '}
            <Anchor
              href={node.url ?? ''}
              inherit
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                void router.navigate({ href: node.url ?? '' });
              }}
            >
              {node.title}
            </Anchor>
          </List.Item>
        ))}
      </List>
      {nodes.length > SHOWN && <Text size="xs">{t('upload.moreProblems', { count: nodes.length - SHOWN })}</Text>}
    </Section>
  );
}
