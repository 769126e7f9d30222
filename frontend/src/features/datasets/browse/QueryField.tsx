import { ActionIcon, Code, Combobox, Group, Popover, Stack, Table, Text, TextInput, useCombobox } from '@mantine/core';
import { IconHelpCircle, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/errors';
import { sayDetail } from '@/i18n';
import { fieldWords } from '@/shared/domain/problemWords';
import { completionOf, type KnownValues, NOTHING_KNOWN } from './queryCompletion';

interface QueryFieldProps {
  /** The query that is in force. */
  value: string | undefined;
  onChange: (where: string | undefined) => void;
  /** Whatever the last listing failed with: only what is wrong with the query is shown here. */
  error?: unknown;
  /** Values of the version that are offered while one types. */
  known?: KnownValues;
}

/** Says what is wrong with a query, null for every other failure. */
export function queryProblem(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.code !== 'query_invalid') return null;
  return fieldWords(error).where || sayDetail(error.detail, error.sentence);
}

/** Chooses files by a condition; it counts on Enter, or when the field is left. */
export function QueryField({ value, onChange, error, known = NOTHING_KNOWN }: QueryFieldProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  const offer = useOffer(text, setText, known);
  const submit = (next: string) => {
    const where = next.trim() || undefined;
    if (where !== value) onChange(where);
  };
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) offer.list.closeDropdown();
    if (event.key === 'ArrowDown' && !offer.isOpen) offer.ask(event.currentTarget.selectionStart);
    // The keys of an open list are the list's own.
    if (event.key === 'Enter' && !offer.hasChoice()) submit(text);
    else if (event.key === 'Escape' && !offer.isOpen) setText(value ?? '');
    else if (event.key === 'Tab' && offer.hasChoice()) {
      event.preventDefault();
      offer.list.clickSelectedOption();
    }
  };
  return (
    <Combobox store={offer.list} onOptionSubmit={offer.take} position="bottom-start" shadow="md" width="max-content">
      <Combobox.Target withExpandedAttribute>
        <TextInput
          ref={offer.input}
          role="combobox"
          size="xs"
          mb="xs"
          aria-label={t('datasets.query')}
          placeholder="label = 'cat' AND attributes.camera LIKE 'north%'"
          value={text}
          maxLength={4000}
          spellCheck={false}
          autoComplete="off"
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          onChange={(event) => {
            setText(event.currentTarget.value);
            offer.ask(event.currentTarget.selectionStart);
          }}
          onKeyDown={onKey}
          onBlur={() => {
            offer.list.closeDropdown();
            submit(text);
          }}
          error={queryProblem(error)}
          rightSectionWidth={value ? 56 : 30}
          rightSection={
            <Group gap={2} wrap="nowrap">
              {value && (
                <ActionIcon
                  size="sm"
                  color="gray"
                  variant="subtle"
                  aria-label={t('datasets.queryClear')}
                  onClick={() => onChange(undefined)}
                >
                  <IconX size={14} />
                </ActionIcon>
              )}
              <Grammar />
            </Group>
          }
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={offer.options.length === 0} maw="90vw">
        <Combobox.Options mah={220} style={{ overflowY: 'auto' }} aria-label={t('datasets.queryOffers')}>
          {offer.options.map((option) => (
            <Combobox.Option key={option} value={option} fz="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {option}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** The list of columns and values that the text before the caret may go on with. */
function useOffer(text: string, setText: (text: string) => void, known: KnownValues) {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState<number | null>(null);
  const moveTo = useRef<number | null>(null);
  const list = useCombobox({ onDropdownClose: () => list.resetSelectedOption() });
  useLayoutEffect(() => {
    // The browser puts the caret behind a text that a program writes.
    if (moveTo.current !== null) input.current?.setSelectionRange(moveTo.current, moveTo.current);
    moveTo.current = null;
  });
  const completion = caret === null ? null : completionOf(text, caret, known);
  const ask = (at: number | null) => {
    setCaret(at);
    list.resetSelectedOption();
    list.openDropdown();
  };
  const take = (option: string) => {
    if (!completion || caret === null) return;
    const end = completion.from + option.length;
    setText(text.slice(0, completion.from) + option + text.slice(caret));
    moveTo.current = end;
    // A name that goes on offers the next part at once.
    if (option.endsWith('.')) ask(end);
    else list.closeDropdown();
  };
  const isOpen = list.dropdownOpened && completion !== null;
  return {
    input,
    list,
    isOpen,
    options: list.dropdownOpened ? (completion?.options ?? []) : [],
    ask,
    take,
    hasChoice: () => isOpen && list.getSelectedOptionIndex() >= 0,
  };
}

const COLUMNS = [
  'path',
  'name',
  'folder',
  'size',
  'media_type',
  'label',
  'split',
  'attributes.camera',
  'objects.label',
  'objects.area',
  'objects.count',
] as const;
const FORMS = [
  "label = 'cat'",
  'size BETWEEN 1000 AND 5000',
  "split IN ('val', 'test')",
  "name LIKE 'img\\_%'",
  'attributes.blurred = TRUE',
  'label IS NULL OR NOT attributes.iso > 800',
  "objects.label = 'car' AND objects.area < 1024",
  'objects.counts.car >= 2',
];

function Grammar() {
  const { t } = useTranslation();
  return (
    <Popover width={420} position="bottom-end" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <ActionIcon size="sm" color="gray" variant="subtle" aria-label={t('datasets.queryHelp')}>
          <IconHelpCircle size={15} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('datasets.queryHelp')} tabIndex={0}>
        <Stack gap="xs">
          <Text size="sm">{t('datasets.queryHint')}</Text>
          <Table verticalSpacing={2} fz="xs">
            <Table.Tbody>
              {COLUMNS.map((column) => (
                <Table.Tr key={column}>
                  <Table.Td>
                    <Code>{column}</Code>
                  </Table.Td>
                  <Table.Td>
                    {t(`datasets.queryColumns.${column.replace('.', '_')}` as 'datasets.queryColumns.path')}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {FORMS.map((form) => (
            <Code key={form} block py={2}>
              {form}
            </Code>
          ))}
          <Text size="xs" c="dimmed">
            {t('datasets.queryNothing')}
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
