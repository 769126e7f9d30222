import { Checkbox, Group, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { queryProblem } from '../browse/QueryField';
import { OperationFrame } from '../operations/OperationFrame';
import { useDialogOperation } from '../operations/useOperation';
import { useStats } from '../queries';
import { useViews } from '../views/viewQueries';
import { SplitCounts } from './SplitCounts';
import { type SplitForm, useSplit, useSplitPreview } from './useSplit';

interface SplitDialogProps {
  name: string;
  /** The newest version: what is split. */
  latest: string;
  opened: boolean;
  onClose: () => void;
  onSplit: (ref: string) => void;
}

const INITIAL: SplitForm = {
  test: '20%',
  val: '10%',
  seed: 7,
  stratify: true,
  group_by: '',
  redraw: false,
  view: '',
  where: '',
};
const SIZE = /^(\d{1,15}|\d{1,3}(\.\d{1,6})?%)?$/;
const GROUP = /^(folder|attributes(\.[^.\s]+)+)?$/;
const PREVIEW_AFTER_MS = 300;

/** Makes a version of the same files with another split; the counts are shown before. */
export function SplitDialog({ opened, ...rest }: SplitDialogProps) {
  const { t } = useTranslation();
  const { name, latest, onClose } = rest;
  return (
    <Dialog opened={opened} onClose={onClose} title={t('datasets.splitTitle', { ref: `${name}@${latest}` })}>
      <NewSplit {...rest} />
    </Dialog>
  );
}

function NewSplit({ name, latest, onClose, onSplit }: Omit<SplitDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const operation = useDialogOperation(name);
  const split = useSplit(name, operation);
  const size = (value: string) => (SIZE.test(value.trim()) ? null : t('datasets.splitSizeWrong'));
  const form = useForm<SplitForm>({
    mode: 'controlled',
    initialValues: INITIAL,
    validateInputOnChange: true,
    validate: {
      test: size,
      val: size,
      group_by: (value) => (GROUP.test(value.trim()) ? null : t('datasets.splitGroupWrong')),
    },
  });
  const stats = useStats(name, latest);
  const isUnlabelled = stats.data !== undefined && Object.keys(stats.data.labels).length === 0;
  const asked = (wanted: SplitForm) => ({ ...wanted, stratify: wanted.stratify && !isUnlabelled });
  const [values] = useDebouncedValue(form.values, PREVIEW_AFTER_MS);
  const preview = useSplitPreview(name, latest, asked(values), form.isValid() && !stats.isPending);
  const send = async (wanted: SplitForm) => {
    const ref = await split(asked(wanted));
    notifySuccess(t('datasets.splitDone', { ref: `${name}@${ref}` }));
    onClose();
    onSplit(ref);
  };
  return (
    <OperationFrame operation={operation} form={form} send={send} submit={t('datasets.splitMake')} onCancel={onClose}>
      <Group grow align="flex-start">
        <TextInput
          label={t('datasets.splitTest')}
          description={t('datasets.splitSizeHint')}
          data-autofocus
          autoComplete="off"
          {...form.getInputProps('test')}
        />
        <TextInput
          label={t('datasets.splitVal')}
          description={t('datasets.splitSizeHint')}
          autoComplete="off"
          {...form.getInputProps('val')}
        />
        <NumberInput
          label={t('datasets.splitSeed')}
          description={t('datasets.splitSeedHint')}
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          allowDecimal={false}
          allowNegative={false}
          {...form.getInputProps('seed')}
        />
      </Group>
      <TextInput
        label={t('datasets.splitGroup')}
        description={t('datasets.splitGroupHint')}
        placeholder="attributes.patient"
        autoComplete="off"
        {...form.getInputProps('group_by')}
      />
      <Chosen name={name} form={form} problem={queryProblem(preview.error)} />
      <Stack gap={6}>
        <Switch
          label={t('datasets.splitStratify')}
          description={isUnlabelled && t('datasets.splitNoLabels')}
          {...form.getInputProps('stratify', { type: 'checkbox' })}
          checked={asked(form.values).stratify}
          disabled={isUnlabelled}
        />
        <Checkbox
          label={t('datasets.splitRedraw')}
          description={t('datasets.splitRedrawHint')}
          {...form.getInputProps('redraw', { type: 'checkbox' })}
        />
      </Stack>
      <SplitCounts counts={preview.data} error={preview.error} pending={preview.isFetching} />
    </OperationFrame>
  );
}

interface ChosenProps {
  name: string;
  form: UseFormReturnType<SplitForm>;
  /** The error of the query. */
  problem: string | null;
}

/** Which files are split: those of a view, those that match a query, or of both. */
function Chosen({ name, form, problem }: ChosenProps) {
  const { t } = useTranslation();
  const views = useViews(name).data?.results ?? [];
  return (
    <Group grow align="flex-start">
      {views.length > 0 && (
        <Select
          label={t('datasets.splitView')}
          description={t('datasets.splitChosenHint')}
          placeholder={t('datasets.splitEveryFile')}
          data={views.map((view) => view.name)}
          value={form.values.view || null}
          onChange={(view) => form.setFieldValue('view', view ?? '')}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
        />
      )}
      <TextInput
        label={t('datasets.query')}
        description={t('datasets.splitChosenHint')}
        placeholder="attributes.camera = 'north'"
        maxLength={4000}
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.getInputProps('where')}
        error={problem}
      />
    </Group>
  );
}
