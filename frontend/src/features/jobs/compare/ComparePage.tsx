import {
  Button,
  Card,
  Group,
  MultiSelect,
  SegmentedControl,
  Skeleton,
  Stack,
  Switch,
  Text,
  Title,
} from '@mantine/core';
import { IconArrowsDiff, IconPlus } from '@tabler/icons-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Comparison } from '@/api/contract/jobs';
import { whenReachable } from '@/shared/live/connection';
import { EmptyState } from '@/shared/ui/EmptyState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { PrintReport, ReportOrigin } from '@/shared/ui/print/PrintReport';
import { mainMetric } from '../list/mainMetric';
import { useComparison } from '../queries';
import { AxisFilters } from './AxisFilters';
import { axesOf, type MetricValue, parameterNames, passing, type Within } from './axes';
import { ChooseRuns } from './ChooseRuns';
import { CompareCode } from './CompareCode';
import { CompareTable } from './CompareTable';
import { looksOf } from './looks';
import { joined, MIN_COMPARED } from './numbers';
import { ParallelCoordinates } from './ParallelCoordinates';
import { sectionsOf } from './rows';
import { type CompareSearch, type SetSearch, useCompareSearch } from './useCompareSearch';

// uPlot stays out of the page's first chunk.
const CompareCurves = lazy(whenReachable(async () => ({ default: (await import('./CompareCurves')).CompareCurves })));

/** More axes than these are chosen by hand. */
const FIRST_AXES = 6;

function Above() {
  const { t } = useTranslation();
  return (
    <AnchorLink to="/runs" size="xs">
      {t('jobs.title')}
    </AnchorLink>
  );
}

export function ComparePage() {
  const { t } = useTranslation();
  const [search, setSearch] = useCompareSearch();
  const names = (search.runs ?? '').split(',').filter(Boolean);
  const query = useComparison(names.join(','), search.value ?? 'last');
  const [choosing, setChoosing] = useState(false);
  const enough = names.length >= MIN_COMPARED;
  const data = enough ? query.data : undefined;
  if (enough && query.error && !data)
    return (
      <FailedPage
        title={t('compare.title')}
        above={<Above />}
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    );
  const add = (
    <Button variant="default" leftSection={<IconPlus size={14} />} onClick={() => setChoosing(true)}>
      {t(enough ? 'compare.add' : 'compare.choose')}
    </Button>
  );
  const chosen = data?.runs.map((run) => run.number) ?? names.filter((name) => /^\d+$/.test(name)).map(Number);
  return (
    <Page>
      <ReportOrigin />
      <PageHeader title={t('compare.title')} above={<Above />} subtitle={t('compare.subtitle')}>
        {enough && add}
        {data && <PrintReport />}
      </PageHeader>
      {!enough && <EmptyState icon={IconArrowsDiff} title={t('compare.none')} action={add} />}
      {enough && !data && (
        <Stack aria-busy>
          <Skeleton height={340} radius="md" />
          <Skeleton height={240} radius="md" />
        </Stack>
      )}
      {/* The cards below the curves come with them: how high those are is not known before. */}
      {data && (
        <Suspense fallback={<Skeleton height={340} radius="md" />}>
          <Compared data={data} names={names.join(',')} search={search} setSearch={setSearch} />
        </Suspense>
      )}
      {choosing && (
        <ChooseRuns
          chosen={chosen}
          onClose={() => setChoosing(false)}
          onChoose={(numbers) => {
            setSearch({ runs: joined(numbers) });
            setChoosing(false);
          }}
        />
      )}
    </Page>
  );
}

interface ComparedProps {
  data: Comparison;
  names: string;
  search: CompareSearch;
  setSearch: SetSearch;
}

function Compared({ data, names, search, setSearch }: ComparedProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { runs, metrics } = data;
  const value: MetricValue = search.value ?? 'last';
  const keys = metrics.map(({ key }) => key);
  const metric = search.metric ?? mainMetric(Object.fromEntries(keys.map((key) => [key, 0])))?.key;
  const known = useMemo(() => parameterNames(runs), [runs]);
  const shownAxes = search.axes?.filter((name) => known.all.includes(name)) ?? known.differing.slice(0, FIRST_AXES);
  const axisNames = shownAxes.join('\n');
  const axes = useMemo(
    () => axesOf(runs, axisNames === '' ? [] : axisNames.split('\n'), metric, value),
    [runs, axisNames, metric, value],
  );
  const looks = useMemo(() => looksOf(runs.map((run) => run.number)), [runs]);
  const sections = useMemo(() => sectionsOf(data, value, t, format), [data, value, t, format]);
  const within = search.within ?? {};
  const inside = passing(axes, within, runs.length);
  const shown = runs.filter((_, i) => inside[i]);
  const setFilter = (name: string, filter: Within[string] | undefined) => {
    const { [name]: _, ...others } = within;
    const next = filter ? { ...others, [name]: filter } : others;
    setSearch({ within: Object.keys(next).length > 0 ? next : undefined });
  };
  return (
    <Stack>
      {metric !== undefined && (
        <Card padding="md">
          <CompareCurves
            names={names}
            runs={shown}
            looks={looks}
            metric={metric}
            keys={keys.includes(metric) ? keys : [...keys, metric]}
            search={search}
            setSearch={setSearch}
          />
        </Card>
      )}
      {known.all.length > 0 && (
        <Card padding="md">
          <Group justify="space-between" mb="xs">
            <Title order={2} fz="sm">
              {t('compare.parallel')}
            </Title>
            <MultiSelect
              size="xs"
              miw={240}
              maw={520}
              aria-label={t('compare.axes')}
              placeholder={shownAxes.length === 0 ? t('compare.axes') : undefined}
              data={known.all}
              value={shownAxes}
              onChange={(next) => setSearch({ axes: next.length > 0 ? next : undefined })}
              searchable
            />
          </Group>
          <Text size="xs" c="dimmed" mb={4}>
            {t('compare.parallelHint')}
          </Text>
          <ParallelCoordinates
            axes={axes}
            runs={runs}
            looks={looks}
            inside={inside}
            within={within}
            onBrush={setFilter}
          />
          <AxisFilters axes={axes} within={within} onChange={setFilter} />
        </Card>
      )}
      <Card padding="md">
        <Group gap="lg" mb="sm">
          <Text size="sm" fw={600} aria-live="polite">
            {t('compare.shown', { shown: shown.length, count: runs.length })}
          </Text>
          {search.within && (
            <Button variant="subtle" size="compact-xs" onClick={() => setSearch({ within: undefined })}>
              {t('compare.clearFilters')}
            </Button>
          )}
          <Switch
            size="xs"
            label={t('compare.onlyDifferences')}
            checked={search.only ?? false}
            onChange={(event) => setSearch({ only: event.currentTarget.checked || undefined })}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('compare.value')}
            value={value}
            onChange={(next) => setSearch({ value: next === 'last' ? undefined : (next as MetricValue) })}
            data={(['last', 'min', 'max'] as const).map((one) => ({ value: one, label: t(`compare.values.${one}`) }))}
          />
        </Group>
        {shown.length === 0 ? (
          <EmptyState compact title={t('compare.allFiltered')} />
        ) : (
          <CompareTable
            runs={runs}
            inside={inside}
            looks={looks}
            sections={sections}
            onlyDifferences={search.only ?? false}
            onRemove={(gone) =>
              setSearch({ runs: joined(runs.filter((run) => run.id !== gone.id).map((run) => run.number)) })
            }
          />
        )}
      </Card>
      <Card padding="md">
        <CompareCode runs={runs} chosen={search.code} onChoose={(code) => setSearch({ code })} />
      </Card>
    </Stack>
  );
}
