import { Button, Group, NumberInput, Popover, Select } from '@mantine/core';
import { IconRuler2 } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import type { BrowseSearch } from './useBrowse';

interface FactFiltersProps {
  search: BrowseSearch;
  change: (patch: Partial<BrowseSearch>) => void;
  /** How many files the version has of each media type. */
  mediaTypes: Record<string, number> | undefined;
}

/** Filters by what kind of file it is, and how large. */
export function FactFilters({ search, change, mediaTypes }: FactFiltersProps) {
  return (
    <>
      <KindSelect value={search.type} onChange={(type) => change({ type })} mediaTypes={mediaTypes} />
      <SizeFilter search={search} change={change} />
    </>
  );
}

/** Families of media types, with the types in them; a family of one type is only that. */
export function kindsOf(mediaTypes: Record<string, number>): { value: string; count: number }[] {
  const families = new Map<string, { value: string; count: number }[]>();
  for (const [value, count] of Object.entries(mediaTypes)) {
    const family = `${value.split('/')[0]}/`;
    families.set(family, [...(families.get(family) ?? []), { value, count }]);
  }
  return [...families]
    .sort(([a], [b]) => a.localeCompare(b))
    .flatMap(([value, types]) => {
      const count = types.reduce((sum, one) => sum + one.count, 0);
      const sorted = types.toSorted((a, b) => b.count - a.count);
      return types.length > 1 ? [{ value, count }, ...sorted] : sorted;
    });
}

const isEnding = (text: string) => /^\.[^\s/]+$/.test(text);

interface KindSelectProps {
  value: string | undefined;
  onChange: (type: string | undefined) => void;
  mediaTypes: Record<string, number> | undefined;
}

/** Media types with their counts; what is typed after a dot is an ending. */
function KindSelect({ value, onChange, mediaTypes }: KindSelectProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const [typed, setTyped] = useState('');
  const wordsOf = (kind: string) => {
    if (isEnding(kind)) return t('datasets.ending', { ending: kind });
    return kind.endsWith('/') ? t('datasets.family', { family: kind.slice(0, -1) }) : kind;
  };
  const known = kindsOf(mediaTypes ?? {}).map((kind) => ({
    value: kind.value,
    label: `${wordsOf(kind.value)} (${format.number(kind.count)})`,
  }));
  const isKnown = (one: string) => known.some((kind) => kind.value === one);
  const extra = [value, isEnding(typed.trim()) ? typed.trim() : undefined].filter(
    (one, index, all): one is string => Boolean(one) && !isKnown(one as string) && all.indexOf(one) === index,
  );
  const data = [...extra.map((one) => ({ value: one, label: wordsOf(one) })), ...known];
  return (
    <Select
      size="xs"
      w={124}
      comboboxProps={{ width: 'max-content' }}
      aria-label={t('datasets.type')}
      placeholder={t('datasets.anyType')}
      data={data}
      value={value ?? null}
      onChange={(type) => onChange(type ?? undefined)}
      searchable
      onSearchChange={setTyped}
      nothingFoundMessage={t('datasets.noType')}
      clearable
      clearButtonProps={{ 'aria-label': t('common.clear') }}
    />
  );
}

const KIB = 1024;

/** A size range in KiB; it counts when it is sent. */
function SizeFilter({ search, change }: Pick<FactFiltersProps, 'search' | 'change'>) {
  const { t } = useTranslation();
  const format = useFormat();
  const [opened, setOpened] = useState(false);
  const { min, max } = search;
  const words =
    min === undefined && max === undefined
      ? t('datasets.anySize')
      : `${min === undefined ? '0' : format.bytes(min)} – ${max === undefined ? '∞' : format.bytes(max)}`;
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus returnFocus shadow="md" position="bottom-start">
      <Popover.Target>
        <Button
          size="xs"
          variant={min === undefined && max === undefined ? 'default' : 'light'}
          leftSection={<IconRuler2 size={14} />}
          aria-label={`${t('datasets.size')}: ${words}`}
          onClick={() => setOpened(!opened)}
        >
          {words}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <SizeForm
          min={min}
          max={max}
          onSize={(size) => {
            setOpened(false);
            change(size);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

interface SizeFormProps {
  min: number | undefined;
  max: number | undefined;
  onSize: (size: { min: number | undefined; max: number | undefined }) => void;
}

const shown = (bytes: number | undefined) => (bytes === undefined ? '' : bytes / KIB);
const bytesOf = (given: number | string) => (typeof given === 'number' ? Math.round(given * KIB) : undefined);

function SizeForm({ min, max, onSize }: SizeFormProps) {
  const { t } = useTranslation();
  const [least, setLeast] = useState<number | string>(shown(min));
  const [most, setMost] = useState<number | string>(shown(max));
  const wrong = typeof least === 'number' && typeof most === 'number' && least > most;
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!wrong) onSize({ min: bytesOf(least), max: bytesOf(most) });
  };
  const field = { size: 'xs', w: 120, min: 0, decimalScale: 3, suffix: ' KiB', hideControls: true } as const;
  return (
    <form onSubmit={send}>
      <Group align="flex-end" gap="xs">
        <NumberInput {...field} label={t('datasets.sizeFrom')} value={least} onChange={setLeast} data-autofocus />
        <NumberInput
          {...field}
          label={t('datasets.sizeTo')}
          value={most}
          onChange={setMost}
          error={wrong ? t('datasets.sizeWrong') : undefined}
        />
        <Button size="xs" type="submit" disabled={wrong}>
          {t('datasets.sizeApply')}
        </Button>
      </Group>
    </form>
  );
}
