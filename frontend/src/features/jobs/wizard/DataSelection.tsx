import { Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/errors';
import { sayDetail } from '@/i18n';
import { fieldWords } from '@/shared/domain/problemWords';
import { useMatching, useSavedViews } from '../queries';
import { splitReference } from './DatasetPicker';
import type { Selection } from './draft';

interface DataSelectionProps {
  label: string;
  /** `name@ref`, or empty: then there is nothing to choose from. */
  reference: string;
  value: Selection;
  errors: Selection;
  onChange: (selection: Selection) => void;
}

/** The server's errors of a dataset's selection, by the form's fields. */
export function selectionErrors(errors: Record<string, string>, alias: string): Selection {
  const at = `selectors.${alias}`;
  return { where: errors[`${at}.where`] ?? errors[at], view: errors[`${at}.view`] };
}

function problemOf(error: unknown, code: string): string | undefined {
  if (!(error instanceof ApiError) || error.code !== code) return undefined;
  return fieldWords(error).where || sayDetail(error.detail, error.sentence);
}

/** Narrows a version to a saved view, to what matches a query, or to both; says how many files that are. */
export function DataSelection({ label, reference, value, errors, onChange }: DataSelectionProps) {
  const { t } = useTranslation();
  const [dataset, ref] = splitReference(reference);
  const [settled] = useDebouncedValue(value, 400);
  const views = useSavedViews(dataset).data?.results ?? [];
  const matching = useMatching(dataset, ref, settled);
  if (!dataset) return null;
  const names = views.map(({ name }) => name);
  const shown = value.view && !names.includes(value.view) ? [value.view, ...names] : names;
  const count = matching.data && { count: matching.data.total, ref: reference };
  return (
    <>
      <Group gap="xs" wrap="nowrap" align="flex-start" mt={6}>
        {shown.length > 0 && (
          <Select
            flex={1}
            size="xs"
            aria-label={t('wizard.viewOf', { label })}
            placeholder={t('wizard.anyView')}
            data={shown}
            value={value.view ?? null}
            onChange={(view) => onChange({ ...value, view: view ?? undefined })}
            error={problemOf(matching.error, 'view_not_found') ?? errors.view}
            clearable
            clearButtonProps={{ 'aria-label': t('common.clear') }}
            openOnFocus={false}
          />
        )}
        <TextInput
          flex={2}
          size="xs"
          aria-label={t('wizard.whereOf', { label })}
          placeholder={t('wizard.wherePlaceholder')}
          value={value.where ?? ''}
          onChange={(event) => onChange({ ...value, where: event.currentTarget.value || undefined })}
          error={problemOf(matching.error, 'query_invalid') ?? errors.where}
          maxLength={4000}
          spellCheck={false}
          autoComplete="off"
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
      </Group>
      {count && (value.where || value.view) && (
        <Text size="xs" c="dimmed" mt={4} aria-live="polite" className="tabular">
          {t(matching.data?.total_is_exact ? 'wizard.matches' : 'wizard.matchesAtLeast', count)}
        </Text>
      )}
    </>
  );
}
