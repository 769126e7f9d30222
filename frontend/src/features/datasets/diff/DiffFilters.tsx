import { Button, Chip, Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFolder, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DiffKind, DiffListing } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { KINDS } from './kinds';
import { ObjectChanges } from './ObjectChanges';
import type { DiffAsked } from './queries';

export type DiffFilter = Omit<DiffAsked, 'from' | 'to'>;

interface DiffFiltersProps {
  listing: DiffListing;
  filter: DiffFilter;
  change: (patch: DiffFilter) => void;
}

/** Which changes are shown: of a kind, in a folder, of one label that became another. */
export function DiffFilters({ listing, filter, change }: DiffFiltersProps) {
  const { t } = useTranslation();
  const [round, setRound] = useState(0);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const clear = () => {
    change({ kind: undefined, path: undefined, was: undefined, now: undefined });
    // The field begins again from the address.
    setRound(round + 1);
  };
  return (
    <Group gap="sm" mb="md" role="group" aria-label={t('diff.filters')}>
      <KindChips summary={listing.summary} kind={filter.kind} onKind={(kind) => change({ kind })} />
      <Folder key={round} path={filter.path} onPath={(path) => change({ path })} />
      <LabelChange changes={listing.label_changes} filter={filter} change={change} />
      <Text size="sm" c="dimmed" role="status">
        {t('diff.found', { count: listing.total })}
      </Text>
      <ObjectChanges counts={listing.objects} />
      {isFiltered && (
        <Button size="compact-xs" variant="subtle" leftSection={<IconX size={13} />} onClick={clear}>
          {t('diff.clear')}
        </Button>
      )}
    </Group>
  );
}

interface KindChipsProps {
  summary: DiffListing['summary'];
  kind: DiffKind | undefined;
  onKind: (kind: DiffKind | undefined) => void;
}

function KindChips({ summary, kind, onKind }: KindChipsProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const total = Object.values(summary).reduce((sum, count) => sum + count, 0);
  return (
    <Chip.Group
      multiple={false}
      value={kind ?? 'all'}
      onChange={(next) => onKind(next === 'all' ? undefined : (next as DiffKind))}
    >
      <Group gap="xs">
        <Chip size="xs" value="all">
          {t('datasets.allKinds')} {format.number(total)}
        </Chip>
        {KINDS.map(({ kind: one, color, sign }) => (
          <Chip key={one} size="xs" value={one} disabled={summary[one] === 0}>
            <Text span inherit fw={700} c={`var(--mantine-color-${color}-light-color)`} aria-hidden>
              {sign}
            </Text>{' '}
            {t(`datasets.${one}`)} {format.number(summary[one])}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

function Folder({ path, onPath }: { path: string | undefined; onPath: (path: string | undefined) => void }) {
  const { t } = useTranslation();
  const setSoon = useDebouncedCallback((text: string) => onPath(text || undefined), 300);
  return (
    <TextInput
      size="xs"
      w={200}
      leftSection={<IconFolder size={14} />}
      aria-label={t('diff.folder')}
      placeholder={t('diff.folderHint')}
      defaultValue={path ?? ''}
      autoComplete="off"
      onChange={(event) => setSoon(event.currentTarget.value)}
    />
  );
}

interface LabelChangeProps {
  changes: DiffListing['label_changes'];
  filter: DiffFilter;
  change: (patch: DiffFilter) => void;
}

const keyOf = (was: string | undefined, now: string | undefined): string => JSON.stringify([was, now]);

function LabelChange({ changes, filter: { was, now }, change }: LabelChangeProps) {
  const { t } = useTranslation();
  const word = (label: string | null) => label || t('datasets.noLabel');
  const options = changes.map((one) => ({
    was: one.old ?? '',
    now: one.new ?? '',
    label: t('diff.labelChangeCount', { old: word(one.old), new: word(one.new), count: one.count }),
  }));
  const isKnown = options.some((one) => one.was === was && one.now === now);
  // An address may name one that is not among the most frequent.
  if (was !== undefined && now !== undefined && !isKnown)
    options.push({ was, now, label: t('item.fromTo', { from: word(was), to: word(now) }) });
  if (options.length === 0) return null;
  return (
    <Select
      size="xs"
      w={220}
      aria-label={t('diff.labelChange')}
      placeholder={t('diff.labelChange')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('diff.anyLabelChange') }}
      data={options.map((one) => ({ value: keyOf(one.was, one.now), label: one.label }))}
      value={was === undefined || now === undefined ? null : keyOf(was, now)}
      onChange={(key) => {
        const found = options.find((one) => keyOf(one.was, one.now) === key);
        change({ was: found?.was, now: found?.now });
      }}
    />
  );
}
