import { Button, Group, Skeleton, Table, Text } from '@mantine/core';
import { IconClock, IconHourglass, IconPin, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CoverageMap as Coverage } from '@/api/schema';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { useCoverage } from '../queries';
import classes from './CoverageMap.module.css';

type Cell = Coverage['cells'][number];
type Version = Coverage['versions'][number];

/** Columns that are shown at first: a wider table is asked for. */
const NODES = 16;
const NEEDS = {
  pinned: IconPin,
  running: IconPlayerPlay,
  queued: IconClock,
  limited: IconHourglass,
} as const;

/** The share of each version on each node, as a table whose cells are coloured by it. */
export default function CoverageMap({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useCoverage(cluster);
  const [isWhole, setWhole] = useState(false);
  if (error && !data) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={120} aria-busy />;
  if (data.versions.length === 0) return <Text size="sm">{t('agents.coverageNone')}</Text>;
  const nodes = isWhole ? data.nodes : data.nodes.slice(0, NODES);
  const cells = new Map(data.cells.map((cell) => [`${cell.version} ${cell.node}`, cell]));
  return (
    <div>
      <Text size="sm" c="dimmed" mb="xs">
        {t('agents.coverageHint')}
      </Text>
      <Table.ScrollContainer minWidth={300} type="native" tabIndex={0}>
        <Table aria-label={t('agents.coverageOf', { cluster })} fz="sm" verticalSpacing={4} className={classes.map}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('agents.version')}</Table.Th>
              {nodes.map(({ node, is_reporting }) => (
                <Table.Th key={node} ta="right">
                  {node}
                  {!is_reporting && (
                    <Text size="xs" c="dimmed">
                      {t('agents.silent')}
                    </Text>
                  )}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.versions.map((version) => (
              <Table.Tr key={version.id}>
                <Table.Th scope="row">
                  <VersionName version={version} />
                </Table.Th>
                {nodes.map(({ node }) => (
                  <CoverageCell key={node} cell={cells.get(`${version.id} ${node}`)} />
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Legend />
      {data.left_out > 0 && (
        <Text size="sm" c="dimmed">
          {t('agents.leftOut', { count: data.left_out })}
        </Text>
      )}
      {data.nodes.length > nodes.length && (
        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setWhole(true)}>
          {t('agents.showNodes', { all: data.nodes.length })}
        </Button>
      )}
    </div>
  );
}

function VersionName({ version: { project, dataset, ref, bytes_total: total } }: { version: Version }) {
  const format = useFormat();
  return (
    <>
      <AnchorLink to="/datasets/$name/warm-up" params={{ name: dataset }} search={{ ref, project }} size="sm">
        {`${dataset}@${ref}`}
      </AnchorLink>
      <Text size="xs" c="dimmed" fw={400}>
        {project} · {format.bytes(total)}
      </Text>
    </>
  );
}

function CoverageCell({ cell }: { cell: Cell | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!cell || cell.bytes_present === 0) return <Table.Td ta="right">–</Table.Td>;
  const { coverage, need, bytes_present: present, bytes_total: total } = cell;
  const shown = coverage < 1 ? Math.min(coverage, 0.99) : 1;
  const Need = need in NEEDS ? NEEDS[need as keyof typeof NEEDS] : null;
  return (
    <Table.Td
      ta="right"
      className={classes.cell}
      style={{ '--share': `${Math.round(shown * 100)}%` }}
      title={t('agents.of', { bytes: format.bytes(present), total: format.bytes(total) })}
    >
      <Group gap={4} justify="flex-end" wrap="nowrap">
        {Need && <Need size={12} role="img" aria-label={t(`agents.need.${need as keyof typeof NEEDS}`)} />}
        {format.percent(shown)}
      </Group>
    </Table.Td>
  );
}

/** The meaning of the signs, in words. */
function Legend() {
  const { t } = useTranslation();
  return (
    <Group gap="md" mt="xs">
      {(Object.keys(NEEDS) as (keyof typeof NEEDS)[]).map((need) => {
        const Need = NEEDS[need];
        return (
          <Group key={need} gap={4}>
            <Need size={12} aria-hidden />
            <Text size="xs" c="dimmed">
              {t(`agents.need.${need}`)}
            </Text>
          </Group>
        );
      })}
    </Group>
  );
}
