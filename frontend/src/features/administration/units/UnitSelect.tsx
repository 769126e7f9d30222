import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useOwnUnits } from './queries';

const SPACE = '\u00a0\u00a0';

interface UnitSelectProps extends Omit<SelectProps, 'data'> {
  /** A unit that is not offered, with all below it. */
  without?: string;
}

/** A unit that the person administers, as a tree. */
export function UnitSelect({ without, ...rest }: UnitSelectProps) {
  const { t } = useTranslation();
  const units = useOwnUnits();
  const left = new Set(without ? [without] : []);
  // Each unit comes before those below it.
  for (const { id, parent } of units) if (parent && left.has(parent)) left.add(id);
  const data = units
    .filter(({ id }) => !left.has(id))
    .map(({ id, name, depth }) => ({ value: id, label: SPACE.repeat(depth) + name }));
  return (
    <Select
      label={t('people.unit')}
      data={data}
      searchable
      allowDeselect={false}
      nothingFoundMessage={t('common.noMatches')}
      {...rest}
    />
  );
}
