import { Button, Group, MultiSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { type RunListQuery, useRunColumns } from './listQueries';

interface ColumnsProps {
  filter: RunListQuery;
  columns: string[];
  onClose: () => void;
  onChoose: (columns: string[]) => void;
}

/** Chooses which parameters and metrics are columns of the list. */
export function ColumnsDialog(props: ColumnsProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened onClose={props.onClose} title={t('runs.columns')}>
      <Choice {...props} />
    </Dialog>
  );
}

function Choice({ filter, columns, onClose, onChoose }: ColumnsProps) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState(columns);
  const { data, error, refetch } = useRunColumns(filter);
  // Chosen columns stay there, though none of the newest runs has them.
  const namesOf = (kind: 'param' | 'metric', found: string[]) => [
    ...new Set([...found.map((key) => `${kind}.${key}`), ...chosen.filter((name) => name.startsWith(`${kind}.`))]),
  ];
  const group = (kind: 'param' | 'metric', found: string[]) => ({
    group: t(kind === 'param' ? 'runs.parameters' : 'runs.metrics'),
    items: namesOf(kind, found).map((value) => ({ value, label: value.slice(kind.length + 1) })),
  });
  const groups = [group('param', data?.parameters ?? []), group('metric', data?.metrics ?? [])];
  return (
    <Stack gap="md">
      {error != null && <ErrorState error={error} onRetry={() => void refetch()} compact />}
      <MultiSelect
        label={t('runs.columns')}
        description={t('runs.columnsHint')}
        data={groups}
        value={chosen}
        onChange={setChosen}
        searchable
        clearable
        maxValues={30}
        limit={200}
        comboboxProps={{ withinPortal: true }}
        data-autofocus
      />
      {data && groups.every(({ items }) => items.length === 0) && (
        <Text size="sm" c="dimmed">
          {t('runs.noColumns')}
        </Text>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button
          onClick={() => {
            onChoose(chosen);
            onClose();
          }}
        >
          {t('runs.columnsDone')}
        </Button>
      </Group>
    </Stack>
  );
}
