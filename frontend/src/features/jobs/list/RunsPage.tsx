import { Button, Stack } from '@mantine/core';
import { IconArchive, IconColumns, IconListNumbers, IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { MlflowLines } from '@/shared/domain/MlflowLines';
import { fieldWords } from '@/shared/domain/problemWords';
import { useMay } from '@/shared/domain/project';
import { DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFormat } from '@/shared/ui/format';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useStored } from '@/shared/ui/stored';
import { useRegisteredClusters, useRuns } from '../queries';
import { isColumn, type runsSearch } from '../search';
import { ColumnsDialog } from './ColumnsDialog';
import { runColumns, runName } from './columns';
import { Filters, NO_FILTER, type RunFilter } from './Filters';
import { SearchHelp } from './SearchHelp';
import { Sums } from './Sums';
import { Toolbar } from './Toolbar';
import { useBulk } from './useBulk';
import { useMlflowLink } from './useMlflowLink';

export function RunsPage() {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runsSearch>;
  const mayRun = useMay('researcher');
  useMlflowLink();
  const { state, q, tag, created_by, experiment, workflow, cluster } = search;
  const filter: RunFilter = { state, q, tag, created_by, experiment, workflow, cluster };
  const filtered = Object.values(filter).some(Boolean);
  const asked = { search: q, state, tag, created_by, experiment, workflow, cluster };
  const [columns, setColumns] = useColumns(search.columns);
  const found = useRuns({ ...asked, sort: search.sort, column: columns });
  const problem = searchProblem(found.error);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const bulk = useBulk(setSelected);
  const [choosing, setChoosing] = useState(false);
  const clusters = useRegisteredClusters();
  const hasClusters = clusters.length > 0;
  const shown = useMemo(
    () => runColumns(t, format, columns).filter(({ key }) => key !== 'cluster' || hasClusters),
    [t, format, columns, hasClusters],
  );
  const rows = found.rows?.filter(({ id }) => !bulk.hidden.has(id));
  const setSearch = (values: Partial<typeof search>) =>
    void navigate({ to: '/runs', search: (old) => ({ ...old, ...values }), replace: true });
  const setFilter = (next: RunFilter) => {
    setSelected(new Set());
    setSearch(next);
  };
  useShortcuts(mayRun ? [{ keys: 'N', label: t('nav.newRun'), run: () => void navigate({ to: '/runs/new' }) }] : []);
  const chosen = (rows ?? []).filter((run) => selected.has(run.id));
  const start = mayRun && (
    <ButtonLink to="/runs/new" leftSection={<IconPlus size={15} />}>
      {t('nav.newRun')}
    </ButtonLink>
  );
  const empty = filtered ? (
    <EmptyState
      icon={IconPlayerPlay}
      title={t('jobs.noMatch')}
      action={
        <Button variant="default" onClick={() => setFilter(NO_FILTER)}>
          {t('common.clear')}
        </Button>
      }
    />
  ) : (
    <EmptyState
      icon={IconPlayerPlay}
      title={t('jobs.none')}
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
        <ButtonLink variant="default" to="/runs/queue" leftSection={<IconListNumbers size={15} />}>
          {t('runs.queue.open')}
        </ButtonLink>
        <ButtonLink variant="default" to="/runs/retention" leftSection={<IconArchive size={15} />}>
          {t('keeping.title')}
        </ButtonLink>
        <Button variant="default" leftSection={<IconColumns size={15} />} onClick={() => setChoosing(true)}>
          {t('runs.columns')}
        </Button>
        {start}
      </PageHeader>
      <Filters clusters={clusters} filter={filter} onChange={setFilter} problem={problem} />
      {problem === undefined && <Sums filter={asked} enabled={found.error == null} />}
      {chosen.length > 0 && <Toolbar chosen={chosen} bulk={bulk} />}
      {problem !== undefined ? (
        <SearchHelp />
      ) : (
        <DataTable
          label={t('jobs.title')}
          columns={shown}
          {...found}
          rows={rows}
          rowKey={(run) => run.id}
          rowName={runName}
          rowLink={(run) => ({ to: '/runs/$runId', params: { runId: run.id } })}
          empty={empty}
          sort={search.sort ?? ''}
          onSort={(sort) => setSearch({ sort })}
          selected={selected}
          onSelect={setSelected}
        />
      )}
      {choosing && (
        <ColumnsDialog
          filter={asked}
          columns={columns}
          onClose={() => setChoosing(false)}
          onChoose={(next) => {
            setColumns(next);
            setSearch({ columns: next.length > 0 ? next : undefined });
          }}
        />
      )}
    </Page>
  );
}

/** The columns of the address, or else those that were chosen last. */
function useColumns(given: string[] | undefined): [string[], (columns: string[]) => void] {
  const [stored, store] = useStored('atom-run-columns', '');
  const columns = useMemo(() => given ?? stored.split(',').filter(isColumn), [given, stored]);
  return [columns, (next) => store(next.join(','))];
}

/** The server's error for a search that it cannot read. */
function searchProblem(error: unknown): string | undefined {
  if (error == null) return undefined;
  const found = asApiError(error);
  return found.code === 'invalid_run_search' ? fieldWords(found).search : undefined;
}
