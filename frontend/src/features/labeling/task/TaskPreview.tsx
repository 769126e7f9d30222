import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { useTaskPreview } from '../queries';
import { LeftOut } from './LeftOut';
import type { TaskForm } from './taskForm';

const TYPING_MS = 300;

/** The size of the task, counted by the server while the form is filled in. */
export function TaskPreview({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { dataset, ref, modality, unlabelled } = form.values;
  const [prefix] = useDebouncedValue(form.values.prefix, TYPING_MS);
  const [where] = useDebouncedValue(form.values.where.trim(), TYPING_MS);
  const preview = useTaskPreview(dataset, ref, { modality, prefix, where, unlabelled });
  if (preview.error && where)
    return (
      <Text size="xs" c="red" role="status">
        {asApiError(preview.error).detail || asApiError(preview.error).title}
      </Text>
    );
  if (!preview.data) return null;
  const { items, left_out } = preview.data;
  return (
    <div aria-live="polite">
      <Text size="xs" c={items > 0 ? 'dimmed' : 'red'}>
        {items > 0 ? t('labeling.create.willHave', { count: items }) : t('labeling.create.nothing')}
      </Text>
      <LeftOut leftOut={left_out} />
    </div>
  );
}
