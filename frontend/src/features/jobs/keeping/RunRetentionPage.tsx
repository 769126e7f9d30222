import { Button, Card, Group, NumberInput, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArchive } from '@tabler/icons-react';
import { type FormEvent, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DueRun, RunPolicy } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useRunPolicy, useSetRunPolicy } from './queries';

const MAX_DAYS = 36_500;
const FIRST_DAYS = 90;

/** For how long a project keeps logs and outputs, and what goes under that. */
export function RunRetentionPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useRunPolicy();
  return (
    <Page>
      <PageHeader
        title={t('keeping.title')}
        subtitle={t('keeping.subtitle')}
        above={
          <AnchorLink to="/runs" size="sm">
            {t('jobs.title')}
          </AnchorLink>
        }
      />
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={220} aria-busy />}
      {data && <PolicyForm key={String(data.days)} present={data} />}
    </Page>
  );
}

function PolicyForm({ present }: { present: RunPolicy }) {
  const { t } = useTranslation();
  const may = useMay('admin');
  const set = useSetRunPolicy();
  const [kind, setKind] = useState(present.days === null ? 'forever' : 'days');
  const [days, setDays] = useState<number | string>(present.days ?? FIRST_DAYS);
  const [saving, setSaving] = useState(false);
  const wrong = kind === 'days' && !(typeof days === 'number' && days >= 1 && days <= MAX_DAYS);
  const wanted = kind === 'forever' || wrong ? 0 : Number(days);
  const [asked] = useDebouncedValue(wanted, 300);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (wrong) return;
    setSaving(true);
    void set(wanted || null)
      .then(() => notifySuccess(t('keeping.saved')))
      .catch(notifyError)
      .finally(() => setSaving(false));
  };
  return (
    <Stack>
      <Card component="form" onSubmit={save}>
        <Stack>
          <Radio.Group label={t('keeping.label')} description={t('keeping.hint')} value={kind} onChange={setKind}>
            <Stack gap={6} mt="xs">
              <Radio value="forever" label={t('keeping.forever')} disabled={!may} />
              <Radio value="days" label={t('keeping.someDays')} disabled={!may} />
            </Stack>
          </Radio.Group>
          {kind === 'days' && (
            <NumberInput
              w={220}
              label={t('keeping.howMany')}
              min={1}
              max={MAX_DAYS}
              allowDecimal={false}
              value={days}
              onChange={setDays}
              disabled={!may}
              error={wrong ? t('keeping.wrong', { most: MAX_DAYS }) : undefined}
            />
          )}
          {may ? (
            <Group>
              <Button type="submit" loading={saving} disabled={wrong || (wanted || null) === present.days}>
                {t('common.save')}
              </Button>
            </Group>
          ) : (
            <Text size="sm" c="dimmed">
              {t('keeping.admins')}
            </Text>
          )}
        </Stack>
      </Card>
      {!wrong && <Due days={asked} />}
    </Stack>
  );
}

/** The runs that would lose files under a policy, before it is set. */
function Due({ days }: { days: number }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { data, error, refetch } = useRunPolicy(days);
  const columns = useMemo<Column<DueRun>[]>(
    () => [
      { key: 'number', header: '#', width: 80, cell: ({ number }) => number },
      { key: 'name', header: t('keeping.run'), cell: ({ name }) => name },
      {
        key: 'ended',
        header: t('keeping.ended'),
        nowrap: true,
        cell: ({ finished_at }) => <RelativeTime at={finished_at} />,
      },
    ],
    [t],
  );
  const said = data && t('keeping.dueCount', { count: data.due_count, size: format.bytes(data.due_bytes) });
  return (
    <Card p={0}>
      <Text size="sm" p="sm" role="status">
        {said ?? '\u00a0'}
      </Text>
      <DataTable
        label={t('keeping.dueTitle')}
        columns={columns}
        rows={data?.due}
        error={error}
        refetch={() => void refetch()}
        rowKey={({ id }) => id}
        rowName={({ name }) => name}
        rowLink={({ id }) => ({ to: '/runs/$runId', params: { runId: id } })}
        empty={
          <EmptyState
            compact
            icon={IconArchive}
            title={t('keeping.nothingDue')}
            action={<CommandLine command="atom run-retention --days 90 --dry-run" />}
          />
        }
      />
    </Card>
  );
}
