import { MultiSelect, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLabelers } from '../queries';

interface PeopleFieldProps {
  value?: string[];
  error?: unknown;
  onChange?: (names: string[]) => void;
}

const TYPING_MS = 200;

/** People who get the work of a task; without any, everybody who may label gets it. */
export function PeopleField({ value = [], error, onChange }: PeopleFieldProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const [q] = useDebouncedValue(search.trim(), TYPING_MS);
  const people = useLabelers(q).data ?? [];
  const fullNames = new Map(people.map(({ username, full_name }) => [username, full_name]));
  return (
    <MultiSelect
      label={t('labeling.plan.people')}
      description={t('labeling.plan.peopleHint')}
      placeholder={value.length === 0 ? t('labeling.plan.everybody') : undefined}
      data={[...new Set([...value, ...fullNames.keys()])]}
      // The server has searched, in full names and addresses, too.
      filter={({ options }) => options}
      renderOption={({ option }) => (
        <Text size="sm">{[option.value, fullNames.get(option.value)].filter(Boolean).join(' · ')}</Text>
      )}
      nothingFoundMessage={t('labeling.plan.noPeople')}
      searchable
      clearable
      searchValue={search}
      onSearchChange={setSearch}
      value={value}
      error={typeof error === 'string' ? error : undefined}
      onChange={onChange}
    />
  );
}
