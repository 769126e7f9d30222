import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { $api } from '@/api/client';
import { useProject } from './project';

const PAGE = 50;

function useFound(q: string) {
  const project = useProject();
  const init = { params: { path: { project }, query: { q: q || undefined, limit: PAGE } } };
  const options = { placeholderData: keepPreviousData };
  return $api.useQuery('get', '/api/v1/projects/{project}/datasets/', init, options).data?.results ?? [];
}

type Rest = Omit<SelectProps, 'data' | 'value' | 'onChange' | 'searchable' | 'searchValue' | 'onSearchChange'>;

interface DatasetSelectProps extends Rest {
  value: string | null;
  /** Told the name and the newest version's ref: `main` if there is none. */
  onChange: (name: string | null, ref: string) => void;
  /** A dataset that is not offered. */
  except?: string;
}

/** A dataset of the project; which are offered, the server says as one types. */
export function DatasetSelect({ value, onChange, except, ...rest }: DatasetSelectProps) {
  const [typed, setTyped] = useState('');
  // The chosen name is written where one types.
  const [q] = useDebouncedValue(typed === value ? '' : typed.trim(), 200);
  const found = useFound(q);
  const names = found.map(({ name }) => name).filter((name) => name !== except);
  return (
    <Select
      {...rest}
      data={(value === null || names.includes(value) ? names : [value, ...names]).toSorted()}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      value={value}
      onChange={(name) => onChange(name, found.find((one) => one.name === name)?.latest?.ref ?? 'main')}
    />
  );
}
