import { ActionIcon, Code, Group, Popover, Stack, Table, Text, TextInput } from '@mantine/core';
import { IconHelpCircle, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/errors';
import { sayDetail } from '@/i18n';
import { fieldWords } from '@/shared/domain/problemWords';

interface QueryFieldProps {
  /** The query that is in force. */
  value: string | undefined;
  onChange: (where: string | undefined) => void;
  /** Whatever the last listing failed with: only what is wrong with the query is shown here. */
  error?: unknown;
}

/** Says what is wrong with a query, null for every other failure. */
export function queryProblem(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.code !== 'query_invalid') return null;
  return fieldWords(error).where || sayDetail(error.detail, error.sentence);
}

/** Chooses files by a condition; it counts on Enter, or when the field is left. */
export function QueryField({ value, onChange, error }: QueryFieldProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  const submit = (next: string) => {
    const where = next.trim() || undefined;
    if (where !== value) onChange(where);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') submit(text);
    else if (event.key === 'Escape') setText(value ?? '');
  };
  return (
    <TextInput
      size="xs"
      mb="xs"
      aria-label={t('datasets.query')}
      placeholder="label = 'cat' AND attributes.camera LIKE 'north%'"
      value={text}
      maxLength={4000}
      spellCheck={false}
      autoComplete="off"
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={onKey}
      onBlur={() => submit(text)}
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
  );
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
