import {
  ActionIcon,
  Button,
  ColorInput,
  Drawer,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { ErrorState } from '@/shared/ErrorState';
import { useProject } from '@/shared/project';
import { defaultHotkey, hotkeysFor, paletteColor } from '../labels';
import { createTask, TASKS_KEY, useDatasets, useVersionStats, useVersions } from '../queries';

interface Values {
  name: string;
  dataset: string;
  ref: string;
  prefix: string;
  unlabelled: boolean;
  labels: { name: string; color: string; hotkey: string }[];
  batchSize: number;
  auditPercent: number;
  guideline: string;
}

const INITIAL: Values = {
  name: '',
  dataset: '',
  ref: '',
  prefix: '',
  unlabelled: true,
  labels: [],
  batchSize: 25,
  auditPercent: 10,
  guideline: '',
};

function useTaskForm() {
  const { t } = useTranslation();
  return useForm<Values>({
    initialValues: INITIAL,
    validate: {
      name: (value) => (value.trim() ? null : t('labeling.create.noName')),
      dataset: (value) => (value ? null : t('labeling.create.noDataset')),
      labels: {
        name: (value, { labels }) => {
          if (!value.trim()) return t('labeling.create.noLabel');
          return labels.filter((label) => label.name === value).length > 1 ? t('labeling.create.sameLabel') : null;
        },
        hotkey: (value, { labels }) =>
          value && labels.filter((label) => label.hotkey === value).length > 1 ? t('labeling.create.sameKey') : null,
      },
    },
  });
}
type TaskForm = ReturnType<typeof useTaskForm>;

export function CreateTask({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const project = useProject();
  const navigate = useNavigate();
  const client = useQueryClient();
  const form = useTaskForm();
  const [error, setError] = useState<unknown>(null);
  const submit = form.onSubmit(async (values) => {
    setError(null);
    if (values.labels.length < 2) {
      form.setFieldError('labels', t('labeling.create.twoLabels'));
      return;
    }
    try {
      const task = await createTask(project, {
        name: values.name.trim(),
        dataset: `${values.dataset}@${values.ref}`,
        labels: values.labels,
        filter: { ...(values.prefix && { prefix: values.prefix }), ...(values.unlabelled && { labelled: false }) },
        batch_size: values.batchSize,
        audit_percent: values.auditPercent,
        guideline: values.guideline,
      });
      void client.invalidateQueries({ queryKey: TASKS_KEY });
      if (task) await navigate({ to: '/labeling/$taskId', params: { taskId: task.id } });
    } catch (thrown) {
      form.setErrors(asApiError(thrown).fields);
      setError(thrown);
    }
  });
  return (
    <Drawer
      opened
      onClose={onClose}
      title={<Text fw={650}>{t('labeling.newTask')}</Text>}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput label={t('common.name')} withAsterisk data-autofocus {...form.getInputProps('name')} />
          <DataFields form={form} />
          <LabelRows form={form} />
          <SimpleGrid cols={2}>
            <NumberInput
              label={t('labeling.create.batchSize')}
              description={t('labeling.create.batchSizeHint')}
              min={1}
              max={200}
              allowDecimal={false}
              {...form.getInputProps('batchSize')}
            />
            <NumberInput
              label={t('labeling.create.auditPercent')}
              description={t('labeling.create.auditPercentHint')}
              min={0}
              max={100}
              suffix=" %"
              {...form.getInputProps('auditPercent')}
            />
          </SimpleGrid>
          <Textarea
            label={t('labeling.guideline')}
            description={t('labeling.create.guidelineHint')}
            autosize
            minRows={3}
            {...form.getInputProps('guideline')}
          />
          {error !== null && <ErrorState error={error} compact />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={form.submitting}>
              {t('common.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Drawer>
  );
}

function DataFields({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { dataset, ref, unlabelled } = form.values;
  const datasets = useDatasets();
  const versions = useVersions(dataset);
  const stats = useVersionStats(dataset, ref);
  const { setFieldValue } = form;
  // The classes that the data has already are the ones to label with, most probably.
  useEffect(() => {
    const names = Object.keys(stats.data?.labels ?? {}).sort((a, b) =>
      a.localeCompare(b, undefined, { numeric: true }),
    );
    const hotkeys = hotkeysFor(names);
    const suggested = names.map((name, index) => ({ name, color: paletteColor(index), hotkey: hotkeys[index] ?? '' }));
    setFieldValue('labels', (old) => (old.length > 0 ? old : suggested));
  }, [stats.data, setFieldValue]);
  return (
    <>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Select
          flex={1}
          label={t('labeling.create.dataset')}
          withAsterisk
          searchable
          data={(datasets.data?.results ?? []).map((one) => one.name)}
          nothingFoundMessage={t('labeling.create.noDatasets')}
          {...form.getInputProps('dataset')}
          onChange={(name) => {
            setFieldValue('dataset', name ?? '');
            setFieldValue('ref', datasets.data?.results.find((one) => one.name === name)?.latest?.ref ?? 'main');
          }}
        />
        <Select
          w={120}
          label={t('labeling.create.version')}
          disabled={!dataset}
          allowDeselect={false}
          data={[...new Set([...(versions.data?.results ?? []).map((one) => one.ref), ...(ref ? [ref] : [])])]}
          value={ref || null}
          onChange={(next) => setFieldValue('ref', next ?? 'main')}
        />
      </Group>
      <Group gap="lg" align="flex-end">
        <TextInput
          flex={1}
          label={t('labeling.create.prefix')}
          placeholder={t('labeling.create.prefixHint')}
          {...form.getInputProps('prefix')}
        />
        <Switch
          mb={8}
          label={t('labeling.create.unlabelled')}
          {...form.getInputProps('unlabelled', { type: 'checkbox' })}
        />
      </Group>
      {stats.data && unlabelled && (
        <Text size="xs" c="dimmed" aria-live="polite">
          {t('labeling.create.unlabelledCount', { count: stats.data.unlabelled })}
        </Text>
      )}
    </>
  );
}

function LabelRows({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { labels } = form.values;
  const add = () => {
    const used = new Set(labels.map((label) => label.hotkey));
    const free = Array.from({ length: 10 }, (_, index) => defaultHotkey(index)).find((key) => !used.has(key)) ?? '';
    form.insertListItem('labels', { name: '', color: paletteColor(labels.length), hotkey: free });
  };
  return (
    <Stack gap={6} role="group" aria-label={t('labeling.classes')}>
      <Text size="sm" fw={500}>
        {t('labeling.classes')}
      </Text>
      {labels.map((label, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a class has no identity before it is saved
        <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
          <TextInput
            flex={1}
            aria-label={t('labeling.create.labelName', { number: index + 1 })}
            placeholder={t('common.name')}
            {...form.getInputProps(`labels.${index}.name`)}
          />
          <ColorInput
            w={130}
            aria-label={t('labeling.create.labelColor', { name: label.name })}
            format="hex"
            {...form.getInputProps(`labels.${index}.color`)}
          />
          <TextInput
            w={56}
            maxLength={1}
            aria-label={t('labeling.create.labelKey', { name: label.name })}
            styles={{ input: { textAlign: 'center' } }}
            {...form.getInputProps(`labels.${index}.hotkey`)}
          />
          <ActionIcon
            color="gray"
            size="lg"
            aria-label={t('labeling.create.removeLabel', { name: label.name })}
            onClick={() => form.removeListItem('labels', index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {form.errors.labels && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {form.errors.labels}
        </Text>
      )}
      <div>
        <Button variant="default" leftSection={<IconPlus size={14} />} onClick={add}>
          {t('labeling.create.addLabel')}
        </Button>
      </div>
    </Stack>
  );
}
