import { Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import { IconArrowsDiff, IconBan, IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { useFormat } from '@/shared/format';
import { ButtonLink } from '@/shared/links';
import { MlflowLines } from '@/shared/MlflowLines';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { useMay } from '@/shared/project';
import { useShortcuts } from '@/shared/shortcuts';
import { joined, MAX_COMPARED, MIN_COMPARED } from '../compare/numbers';
import { useRuns } from '../queries';
import type { runsSearch } from '../search';
import { mayCancel } from '../states';
import { runColumns, runName } from './columns';
import { Filters, type RunFilter } from './Filters';
import { useBulkCancel } from './useBulkCancel';
import { useMlflowLink } from './useMlflowLink';

export function RunsPage() {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runsSearch>;
  const mayRun = useMay('researcher');
  useMlflowLink();
  const { state, q, tag, created_by, experiment } = search;
  const filter: RunFilter = { state, q, tag, created_by, experiment };
  const filtered = Object.values(filter).some(Boolean);
  const runs = useRuns(filter);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const bulk = useBulkCancel(setSelected);
  const columns = useMemo(() => runColumns(t, format), [t, format]);
  const setSearch = (values: Partial<typeof search>) =>
    void navigate({ to: '/runs', search: (old) => ({ ...old, ...values }), replace: true });
  const setFilter = (next: RunFilter) => {
    setSelected(new Set());
    const none = { state: undefined, q: undefined, tag: undefined, created_by: undefined, experiment: undefined };
    setSearch({ ...none, ...next });
  };
  useShortcuts(mayRun ? [{ keys: 'N', label: t('nav.newRun'), run: () => void navigate({ to: '/runs/new' }) }] : []);
  const cancellable = (runs.rows ?? []).filter((run) => selected.has(run.id) && mayCancel(run));

  const chosen = (runs.rows ?? []).filter((run) => selected.has(run.id)).map((run) => run.number);

  const start = mayRun && (
    <ButtonLink to="/runs/new" leftSection={<IconPlus size={15} />}>
      {t('nav.newRun')}
    </ButtonLink>
  );
  const empty = filtered ? (
    <EmptyState
      icon={IconPlayerPlay}
      title={t('jobs.noMatch')}
      hint={t('jobs.noMatchHint')}
      action={
        <Button variant="default" onClick={() => setFilter({})}>
          {t('common.clear')}
        </Button>
      }
    />
  ) : (
    <EmptyState
      icon={IconPlayerPlay}
      title={t('jobs.none')}
      hint={t('jobs.noneHint')}
      action={
        mayRun && (
          <Stack align="center" gap="lg" maw="100%">
            {start}
            <MlflowLines />
          </Stack>
        )
      }
    />
  );

  return (
    <Page>
      <PageHeader title={t('jobs.title')} subtitle={t('jobs.subtitle')}>
        {start}
      </PageHeader>
      <Filters filter={filter} onChange={setFilter} />
      {selected.size > 0 && (
        <Group gap="sm" mb="xs" role="toolbar" aria-label={t('common.actions')}>
          <Text size="sm" fw={600}>
            {t('common.selected', { count: selected.size })}
          </Text>
          <Tooltip label={t('compare.compareHint', { max: MAX_COMPARED })}>
            <Button
              variant="light"
              leftSection={<IconArrowsDiff size={14} />}
              disabled={chosen.length < MIN_COMPARED || chosen.length > MAX_COMPARED}
              onClick={() => void navigate({ to: '/runs/compare', search: { runs: joined(chosen) } })}
            >
              {t('compare.compare', { count: chosen.length })}
            </Button>
          </Tooltip>
          {mayRun && (
            <Button
              color="red"
              variant="light"
              leftSection={<IconBan size={14} />}
              disabled={cancellable.length === 0 || (bulk.asked && bulk.done === null)}
              loading={bulk.done !== null}
              onClick={() => bulk.cancel(cancellable)}
            >
              {t('jobs.cancelSelected', { count: cancellable.length })}
            </Button>
          )}
          {bulk.done !== null && (
            <Text size="sm" c="dimmed" aria-live="polite">
              {t('jobs.cancelling', { done: bulk.done + 1, count: cancellable.length })}
            </Text>
          )}
        </Group>
      )}
      <DataTable
        label={t('jobs.title')}
        columns={columns}
        {...runs}
        rowKey={(run) => run.id}
        rowName={runName}
        rowLink={(run) => ({ to: '/runs/$runId', params: { runId: run.id } })}
        empty={empty}
        sort={search.sort ?? ''}
        onSort={(sort) => setSearch({ sort })}
        sortLocally
        selected={selected}
        onSelect={setSelected}
      />
    </Page>
  );
}
