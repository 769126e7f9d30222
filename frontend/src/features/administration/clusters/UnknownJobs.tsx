import { Alert, Card, Stack, Table, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';
import { useFormat } from '@/shared/ui/format';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { useUnknownJobs } from './queries';

/** Jobs that Atom made and that belong to no run of its database; nothing is shown if there is none. */
export function UnknownJobs({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { data } = useUnknownJobs(cluster);
  const jobs = data?.results ?? [];
  if (jobs.length === 0) return null;
  return (
    <Card component="section" aria-label={t('clusters.unknownJobs')}>
      <Title order={2} fz="md" mb="xs">
        {t('clusters.unknownJobs')}
      </Title>
      <Stack>
        <Alert color="yellow">{t('clusters.unknownJobsText')}</Alert>
        <Table.ScrollContainer minWidth={420} type="native" tabIndex={0}>
          <Table verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('clusters.unknownNamespace')}</Table.Th>
                <Table.Th>{t('clusters.unknownJob')}</Table.Th>
                <Table.Th>{t('clusters.unknownAge')}</Table.Th>
                <Table.Th>{t('clusters.unknownPods')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {jobs.map((job) => (
                <Table.Tr key={job.id}>
                  <Table.Td>{job.namespace}</Table.Td>
                  <Table.Td>
                    <Text size="sm" mb={4} style={{ overflowWrap: 'anywhere' }}>
                      {job.name}
                    </Text>
                    <CommandLine command={job.command} what={t('clusters.unknownCommand')} />
                  </Table.Td>
                  <Table.Td>{job.made_at && <RelativeTime at={job.made_at} />}</Table.Td>
                  <Table.Td className="tabular">{format.number(job.pods)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        {data?.next && (
          <Text size="sm" c="dimmed">
            {t('clusters.unknownMore', { count: jobs.length })}
          </Text>
        )}
      </Stack>
    </Card>
  );
}
