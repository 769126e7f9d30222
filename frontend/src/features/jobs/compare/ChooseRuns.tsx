import { Button, Group, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/shared/grid/DataTable';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFormat } from '@/shared/ui/format';
import { runColumns, runName } from '../list/columns';
import { useRuns } from '../queries';
import { MAX_COMPARED, MIN_COMPARED } from './numbers';

interface ChooseRunsProps {
  /** Numbers of the runs that are chosen already. */
  chosen: number[];
  onClose: () => void;
  onChoose: (numbers: number[]) => void;
}

const SHOWN = new Set(['name', 'state', 'metric', 'created']);

/** Which runs to set beside those that are chosen. */
export function ChooseRuns({ chosen, onClose, onChoose }: ChooseRunsProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const [q, setQ] = useState('');
  const [asked] = useDebouncedValue(q.trim(), 250);
  const runs = useRuns({ q: asked || undefined });
  const [selected, setSelected] = useState(new Set(chosen.map(String)));
  const columns = useMemo(() => {
    const shown = runColumns(t, format, []).filter(({ key }) => SHOWN.has(key));
    return shown.map((column) => ({ ...column, sortValue: undefined }));
  }, [t, format]);
  const count = selected.size;
  return (
    <Dialog opened onClose={onClose} title={t('compare.choose')} size="xl">
      <Stack>
        <TextInput
          data-autofocus
          size="xs"
          aria-label={t('jobs.searchRuns')}
          placeholder={t('jobs.searchRuns')}
          leftSection={<IconSearch size={14} />}
          value={q}
          onChange={(event) => setQ(event.currentTarget.value)}
        />
        <ScrollArea.Autosize mah="55dvh">
          <DataTable
            label={t('jobs.title')}
            columns={columns}
            {...runs}
            rowKey={(run) => String(run.number)}
            rowName={runName}
            empty={<EmptyState compact title={t('jobs.noMatch')} />}
            selected={selected}
            onSelect={setSelected}
          />
        </ScrollArea.Autosize>
        <Group justify="space-between">
          <Text size="xs" c="dimmed" aria-live="polite">
            {count > MAX_COMPARED ? t('compare.tooMany', { max: MAX_COMPARED }) : t('common.selected', { count })}
          </Text>
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button
              disabled={count < MIN_COMPARED || count > MAX_COMPARED}
              onClick={() => onChoose([...selected].map(Number).sort((a, b) => a - b))}
            >
              {t('compare.compare', { count })}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Dialog>
  );
}
