import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { VersionStats } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { ANNOTATED, classQuery, EMPTY, MISSING, withCondition } from './objectQueries';

interface ObjectsFilterProps {
  stats: Pick<VersionStats, 'annotated' | 'object_labels'>;
  where: string | undefined;
  onWhere: (where: string | undefined) => void;
}

/** Chooses pictures by their annotations; the choice stands in the query, where it can be made narrower. */
export function ObjectsFilter({ stats, where, onWhere }: ObjectsFilterProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const pictures = [
    { value: ANNOTATED, label: t('drawn.filter.annotated', { number: stats.annotated }) },
    { value: EMPTY, label: t('drawn.filter.empty') },
    { value: MISSING, label: t('drawn.filter.missing') },
  ];
  const classes = Object.entries(stats.object_labels)
    .toSorted(([, one], [, other]) => other - one)
    .map(([label, count]) => ({ value: classQuery(label), label: `${label} (${format.number(count)})` }));
  const isKnown = [...pictures, ...classes].some(({ value }) => value === where);
  return (
    <Select
      size="xs"
      w={132}
      comboboxProps={{ width: 'max-content' }}
      aria-label={t('drawn.filter.label')}
      placeholder={t('drawn.filter.any')}
      data={[
        { group: t('drawn.filter.classes'), items: classes },
        { group: t('drawn.filter.pictures'), items: pictures },
      ]}
      value={isKnown && where ? where : null}
      onChange={(query) => onWhere(query ? withCondition(where, query) : undefined)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('common.clear') }}
    />
  );
}
