import { Button, Group, SegmentedControl, Select, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { IconPhotoOff, IconTags } from '@tabler/icons-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Prediction, PredictionPage } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import { useMay, useProjectOf } from '@/shared/domain/project';
import { Thumb } from '@/shared/grid/Thumb';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { LoadMore } from '@/shared/ui/LoadMore';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { notifyError } from '@/shared/ui/undo';
import { runName } from '../list/columns';
import { useRun } from '../queries';
import type { predictionsSearch } from '../search';
import { PlaceBoxes, PlaceLegend } from './PlaceBoxes';
import classes from './predictions.module.css';
import { picturesOf, useLabelAgain, usePredictions } from './usePredictions';

type Search = ReturnType<typeof predictionsSearch>;

/** Workflows whose rows are objects, several of a file. */
const DETECTING = new Set(['object-detection', 'evaluate-detector']);

/** Predictions of a model for each file of a run: mistakes first, filtered by the address. */
export function PredictionsPage() {
  const { t } = useTranslation();
  const { runId = '' } = useParams({ strict: false });
  const search = useSearch({ strict: false }) as Search;
  const run = useRun(runId);
  useProjectOf(run.data);
  const { page, rows, query } = usePredictions(runId, search);
  const detects = DETECTING.has(run.data?.workflow ?? '');
  const above = (
    <AnchorLink to="/runs/$runId" params={{ runId }} size="xs">
      {run.data ? runName(run.data) : t('jobs.run')}
    </AnchorLink>
  );
  const missing = query.error && asApiError(query.error).code === 'predictions_missing';
  return (
    <Page>
      <PageHeader
        title={t('predictions.title')}
        above={above}
        subtitle={page && <Source page={page} detects={detects} />}
      />
      {missing && <EmptyState icon={IconPhotoOff} title={t('predictions.missing')} />}
      {query.error && !missing && !page && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {!page && !query.error && <Skeleton height={320} radius="md" />}
      {page && (
        <>
          <Filters search={search} labels={page.labels} />
          <Bar page={page} rows={rows} search={search} detects={detects} />
          {rows.some(({ place }) => place) && <PlaceLegend />}
          {rows.length === 0 ? (
            <EmptyState icon={IconPhotoOff} title={t('predictions.none')} />
          ) : (
            <SimpleGrid cols={{ base: 2, xs: 3, md: 5, xl: 7 }} spacing="sm" component="ul" className={classes.grid}>
              {keyed(rows).map(([key, row]) => (
                <Shown key={key} row={row} page={page} />
              ))}
            </SimpleGrid>
          )}
          {query.hasNextPage && (
            <LoadMore
              onLoad={() => void query.fetchNextPage()}
              loading={query.isFetchingNextPage}
              error={query.isFetchNextPageError ? query.error : null}
            />
          )}
        </>
      )}
    </Page>
  );
}

/** Rows with keys that differ: a picture with several objects has several rows. */
function keyed(rows: readonly Prediction[]): [string, Prediction][] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const before = seen.get(row.path) ?? 0;
    seen.set(row.path, before + 1);
    return [`${row.path} ${before}`, row];
  });
}

function Source({ page, detects }: { page: PredictionPage; detects: boolean }) {
  const { t } = useTranslation();
  const { dataset, ref, split, measured, kept } = page;
  return (
    <>
      {dataset && ref && (
        <AnchorLink
          to="/datasets/$name"
          params={{ name: dataset }}
          search={{ ref, split: split || undefined }}
          fz="inherit"
        >
          {dataset}@{ref}
        </AnchorLink>
      )}{' '}
      · {t(detects ? 'predictions.measuredObjects' : 'predictions.measured', { count: measured, split })}
      {kept < measured && ` ${t('predictions.kept', { count: kept })}`}
    </>
  );
}

function Filters({ search, labels }: { search: Search; labels: string[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const set = (values: Partial<Search>) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, ...values }), replace: true });
  const select = (name: 'true' | 'predicted') => (
    <Select
      size="xs"
      label={t(`predictions.${name}`)}
      placeholder={t('predictions.any')}
      data={labels}
      value={search[name] ?? null}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('common.clear') }}
      onChange={(value) => set({ [name]: value ?? undefined })}
    />
  );
  return (
    <Group gap="sm" align="flex-end" mb="sm">
      {select('true')}
      {select('predicted')}
      <Select
        size="xs"
        label={t('predictions.order')}
        allowDeselect={false}
        data={[
          { value: '-confidence', label: t('predictions.surest') },
          { value: 'confidence', label: t('predictions.leastSure') },
        ]}
        value={search.order ?? '-confidence'}
        onChange={(order) => set({ order: order === 'confidence' ? 'confidence' : undefined })}
      />
      <SegmentedControl
        size="xs"
        aria-label={t('predictions.which')}
        data={[
          { value: 'wrong', label: t('predictions.mistakes') },
          { value: 'all', label: t('predictions.all') },
        ]}
        value={search.wrong ? 'wrong' : 'all'}
        onChange={(value) => set({ wrong: value === 'wrong' ? 1 : undefined })}
      />
    </Group>
  );
}

interface BarProps {
  page: PredictionPage;
  rows: Prediction[];
  search: Search;
  /** Rows are objects, several of a picture. */
  detects: boolean;
}

/** How many match, and what can be done with them. */
function Bar({ page, rows, search, detects }: BarProps) {
  const { t } = useTranslation();
  const mayLabel = useMay('researcher');
  const navigate = useNavigate();
  const labelAgain = useLabelAgain(page, detects);
  const pictures = picturesOf(rows).length;
  const [busy, setBusy] = useState(false);
  const label = async () => {
    setBusy(true);
    try {
      const names = [search.true, search.predicted].filter(Boolean).join(' / ');
      const task = await labelAgain(t('predictions.taskName', { dataset: page.dataset, names }), rows);
      if (task) await navigate({ to: '/labeling/$taskId', params: { taskId: task.id } });
      else await navigate({ to: '/labeling', search: { create: `${page.dataset}@${page.ref}`, objects: true } });
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Group justify="space-between" mb="sm" gap="xs">
      <Text size="sm" role="status" className="tabular">
        {t(detects ? 'predictions.totalObjects' : 'predictions.total', { count: page.total })}
        {detects && rows.length > 0 && ` · ${t('predictions.pictures', { count: pictures })}`}
      </Text>
      <Group gap="xs">
        {mayLabel && page.dataset && rows.length > 0 && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconTags size={14} />}
            loading={busy}
            onClick={() => void label()}
          >
            {t(detects ? 'predictions.drawAgain' : 'predictions.labelAgain', { count: pictures })}
          </Button>
        )}
        {page.dataset && page.ref && (
          <ButtonLink
            size="xs"
            variant="default"
            to="/datasets/$name"
            params={{ name: page.dataset }}
            search={{ ref: page.ref, split: page.split || undefined, label: search.true }}
          >
            {t('predictions.openDataset')}
          </ButtonLink>
        )}
      </Group>
    </Group>
  );
}

const KINDS = ['right', 'double', 'wrong_class', 'misplaced', 'wrong_and_misplaced', 'false', 'missed'] as const;

/** The word for a kind; one that this portal does not know is shown as it is. */
function kindOf(t: TFunction, kind: string): string {
  const known = KINDS.find((one) => one === kind);
  return known ? t(`predictions.kind.${known}`) : kind;
}

/** One file with what it is and what the model takes it for. */
function Shown({ row, page }: { row: Prediction; page: PredictionPage }) {
  const { t } = useTranslation();
  const format = useFormat();
  const isWrong = row.true !== row.predicted;
  const words = t(isWrong ? 'predictions.takenFor' : 'predictions.rightly', {
    truth: row.true,
    predicted: row.predicted,
  });
  const share = format.percent(row.confidence, 1);
  const src = row.entry?.thumb_url;
  const picture = (
    <>
      <Thumb src={src} alt="" />
      {src && row.place && <PlaceBoxes place={row.place} />}
    </>
  );
  return (
    <li className={classes.item}>
      {row.entry && page.dataset ? (
        <AnchorLink
          to="/datasets/$name/item"
          params={{ name: page.dataset }}
          search={{ ref: page.ref ?? undefined, item: row.path }}
          className={classes.picture}
          aria-label={`${row.path}: ${words}`}
        >
          {picture}
        </AnchorLink>
      ) : (
        <span className={classes.picture}>{picture}</span>
      )}
      <Text size="xs" fw={600} c={isWrong ? 'var(--mantine-color-error)' : undefined}>
        {words}
      </Text>
      {row.place && <Text size="xs">{kindOf(t, row.place.kind)}</Text>}
      <Text size="xs" c="dimmed" truncate title={row.path} className="tabular">
        {share} · {row.path}
      </Text>
    </li>
  );
}
