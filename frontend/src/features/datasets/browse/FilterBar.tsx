import { Button, Group, SegmentedControl, Select, Slider, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import { DrawnSwitch } from '../drawn/DrawnSwitch';
import { ObjectsFilter } from '../drawn/ObjectsFilter';
import { useDrawnKey } from '../drawn/useDrawn';
import { useStats, type VersionAddress } from '../queries';
import { FactFilters } from './FactFilters';
import { type BrowseSearch, isFiltered } from './useBrowse';

interface FilterBarProps {
  address: VersionAddress;
  search: BrowseSearch;
  change: (patch: Partial<BrowseSearch>) => void;
  total: number | undefined;
  /** Whether `total` is all; otherwise at least so many match. */
  isExact: boolean;
  /** The path before which files are counted, if `total` is not all. */
  countedBefore: string | null;
  onClear: () => void;
  thumbSize: number;
  onThumbSize: (size: number) => void;
}

/** Choices may be longer than the field. */
const WIDE = { width: 'max-content' } as const;

export function FilterBar({
  address,
  search,
  change,
  total,
  isExact,
  countedBefore,
  onClear,
  thumbSize,
  onThumbSize,
}: FilterBarProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const stats = useStats(address.dataset, address.ref).data;
  const options = (counts: Record<string, number> | undefined) =>
    Object.entries(counts ?? {}).map(([value, count]) => ({ value, label: `${value} (${format.number(count)})` }));
  const hasObjects = Boolean(stats?.annotated);
  useDrawnKey(hasObjects && search.layout !== 'list');
  const hasLabels = stats !== undefined && Object.keys(stats.labels).length > 0;
  const hasSplits = stats !== undefined && Object.keys(stats.splits).length > 0;
  // Links have neither labels nor splits.
  const onlyFiles = Boolean(search.label || search.split) || search.labelled !== undefined;
  const mayHaveLinks = Boolean(stats?.links) && !onlyFiles;
  const words = mayHaveLinks
    ? (['datasets.listed', 'datasets.listedAtLeast'] as const)
    : (['datasets.matching', 'datasets.matchingAtLeast'] as const);
  const labelled = search.labelled === undefined ? 'all' : search.labelled ? 'yes' : 'no';
  return (
    <Group mb="sm" gap="xs" role="group" aria-label={t('datasets.filters')}>
      <SegmentedControl
        size="xs"
        aria-label={t('datasets.view')}
        data={[
          { value: 'grid', label: t('datasets.viewGrid') },
          { value: 'list', label: t('datasets.viewList') },
        ]}
        value={search.layout ?? 'grid'}
        onChange={(layout) => change({ layout: layout === 'list' ? 'list' : undefined })}
      />
      {(hasLabels || search.label) && (
        <Select
          size="xs"
          w={128}
          comboboxProps={WIDE}
          aria-label={t('datasets.labelFilter')}
          placeholder={t('datasets.anyLabel')}
          data={options(stats?.labels)}
          value={search.label ?? null}
          onChange={(label) => change({ label: label ?? undefined, labelled: undefined })}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
          searchable
        />
      )}
      {(hasSplits || search.split) && (
        <Select
          size="xs"
          w={116}
          comboboxProps={WIDE}
          aria-label={t('datasets.splitFilter')}
          placeholder={t('datasets.anySplit')}
          data={options(stats?.splits)}
          value={search.split ?? null}
          onChange={(split) => change({ split: split ?? undefined })}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
        />
      )}
      {!search.label && (
        <SegmentedControl
          size="xs"
          aria-label={t('datasets.labelledFilter')}
          data={[
            { value: 'all', label: t('common.all') },
            { value: 'yes', label: t('datasets.labelled') },
            { value: 'no', label: t('datasets.unlabelled') },
          ]}
          value={labelled}
          onChange={(value) => change({ labelled: value === 'all' ? undefined : value === 'yes' })}
        />
      )}
      {stats && hasObjects && (
        <ObjectsFilter stats={stats} where={search.where} onWhere={(where) => change({ where })} />
      )}
      <FactFilters search={search} change={change} mediaTypes={stats?.media_types} />
      {isFiltered(search) && (
        <Button size="compact-xs" variant="subtle" leftSection={<IconX size={13} />} onClick={onClear}>
          {t('datasets.clearFilters')}
        </Button>
      )}
      <Group gap="xs" ml="auto" wrap="nowrap">
        <Text size="sm" c="dimmed" aria-live="polite" className="tabular">
          {total === undefined ? '' : t(words[isExact ? 0 : 1], { count: total })}
          {countedBefore !== null && ` · ${t('datasets.countedBefore', { path: countedBefore })}`}
        </Text>
        {hasObjects && search.layout !== 'list' && <DrawnSwitch />}
        {search.layout !== 'list' && (
          <Slider
            w={72}
            size="sm"
            min={80}
            max={320}
            step={10}
            label={null}
            thumbLabel={t('datasets.thumbSize')}
            defaultValue={thumbSize}
            onChange={onThumbSize}
          />
        )}
      </Group>
    </Group>
  );
}
