import { Group, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CopyId } from '@/shared/ui/CopyId';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Section } from '../Section';

/** Where the last attempt of a run is in its cluster: its Job, and each rank's pod and node. */
export function InCluster({ run }: { run: Run }) {
  const { t } = useTranslation();
  const attempt = run.attempts.at(-1);
  if (!run.cluster) return null;
  const { namespace, job, ranks = [] } = attempt ?? {};
  return (
    <Section title={t('runpage.cluster.title')}>
      <KeyValueList
        items={[
          [
            t('runpage.cluster.name'),
            <AnchorLink key="c" to="/settings/clusters/$cluster" params={{ cluster: run.cluster }} fz="inherit">
              {run.cluster}
            </AnchorLink>,
          ],
          [t('runpage.cluster.namespace'), namespace && <CopyId key="n" value={namespace} label={namespace} />],
          [t('runpage.cluster.job'), job ? <CopyId key="j" value={job} label={job} /> : t('runpage.cluster.noJob')],
        ]}
      />
      {ranks.length > 0 && (
        <Table.ScrollContainer minWidth={360} type="native" tabIndex={0}>
          <Table fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('runpage.cluster.rank')}</Table.Th>
                <Table.Th>{t('runpage.cluster.node')}</Table.Th>
                <Table.Th>{t('runpage.cluster.pod')}</Table.Th>
                {ranks.length > 1 && <Table.Th>{t('runpage.cluster.state')}</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {ranks.map(({ number, node, pod, ...rank }) => (
                <Table.Tr key={number}>
                  <Table.Td className="tabular">{number}</Table.Td>
                  <Table.Td>{node ?? '–'}</Table.Td>
                  <Table.Td>{pod ? <CopyId value={pod} label={pod} /> : '–'}</Table.Td>
                  {ranks.length > 1 && (
                    <Table.Td>
                      <RankState {...rank} pod={pod} />
                    </Table.Td>
                  )}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {namespace && job && <CommandLine command={`kubectl -n ${namespace} describe job ${job}`} />}
    </Section>
  );
}

type Rank = Run['attempts'][number]['ranks'][number];

/** How far a rank is, and when it reported while it has not ended. */
function RankState({ pod, started_at, ended_at, exit_code, signal, heartbeat_at }: Omit<Rank, 'number' | 'node'>) {
  const { t } = useTranslation();
  const ended = signal
    ? t('runpage.cluster.states.signal', { signal })
    : exit_code == null
      ? t('runpage.cluster.states.ended')
      : t('runpage.cluster.states.exit', { code: exit_code });
  const going = t(`runpage.cluster.states.${started_at ? 'running' : pod ? 'joined' : 'placing'}`);
  return (
    <Group gap="xs">
      {ended_at ? ended : going}
      {heartbeat_at && !ended_at && (
        <Text span size="xs" c="dimmed">
          {t('runpage.cluster.reported')} <RelativeTime at={heartbeat_at} />
        </Text>
      )}
    </Group>
  );
}
