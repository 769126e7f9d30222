import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { IconServerOff } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { WarmChoice } from '@/api/contract/datasets';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { type Format, useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { shareOf } from './progress';

type Node = WarmChoice['nodes'][number];
const SHOWN = 12;

/** The nodes of a cluster that have an agent: how much of the version each has, and its room. */
export function ClusterNodes({ choice }: { choice: WarmChoice }) {
  const { t } = useTranslation();
  const { cluster, nodes } = choice;
  const [isWhole, setWhole] = useState(false);
  if (nodes.length === 0) return <NoAgents cluster={cluster} />;
  const sorted = nodes.toSorted((a, b) => b.bytes_present - a.bytes_present);
  return (
    <div>
      <AnchorLink to="/settings/clusters/$cluster" params={{ cluster }} size="sm" fw={600}>
        {cluster}
      </AnchorLink>
      <Table.ScrollContainer minWidth={300} type="native" tabIndex={0}>
        <Table aria-label={t('warmup.nodesOf', { cluster })} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('warmup.node')}</Table.Th>
              <Table.Th>{t('warmup.share')}</Table.Th>
              <Table.Th>{t('warmup.room')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.slice(0, isWhole ? undefined : SHOWN).map((node) => (
              <NodeRow key={node.node} node={node} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {nodes.length > SHOWN && !isWhole && (
        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setWhole(true)}>
          {t('warmup.showNodes', { all: nodes.length })}
        </Button>
      )}
    </div>
  );
}

function NodeRow({ node }: { node: Node }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { node: name, bytes_present: present, bytes_total: total, problem } = node;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Group gap={6}>
          {name}
          {!node.is_reporting && (
            <Badge size="xs" color="orange">
              {t('warmup.noReport')}
            </Badge>
          )}
          {node.is_read_only && (
            <Badge size="xs" color="red">
              {t('warmup.readOnly')}
            </Badge>
          )}
        </Group>
        {problem && (
          <Text size="xs" c="var(--mantine-color-error)">
            {problem}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <ProgressBar ratio={shareOf(present, total)} label={t('warmup.shareOf', { node: name })} />
      </Table.Td>
      <Table.Td className="tabular">{roomOf(node, t, format)}</Table.Td>
    </Table.Tr>
  );
}

/** The room that a node lacks, or that its cache has left. */
export function roomOf(node: Node, t: TFunction, format: Format): string {
  if (node.lacking_bytes > 0) return t('warmup.lacks', { bytes: format.bytes(node.lacking_bytes) });
  return t('warmup.roomFor', { bytes: format.bytes(node.free_bytes) });
}

function NoAgents({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const action = (
    <Stack align="center" gap="xs">
      <Text size="sm" c="dimmed">
        {t('warmup.noAgentsHint')}
      </Text>
      <CommandLine command={`atom cluster agent ${cluster} | kubectl apply -f -`} />
      <AnchorLink to="/settings/clusters/$cluster" params={{ cluster }} size="sm">
        {t('warmup.toCluster', { cluster })}
      </AnchorLink>
    </Stack>
  );
  return <EmptyState compact icon={IconServerOff} title={t('warmup.noAgents', { cluster })} action={action} />;
}
