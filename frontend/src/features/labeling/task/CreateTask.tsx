import {
  Alert,
  Button,
  Drawer,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { DatasetSelect } from '@/shared/domain/DatasetSelect';
import { useProject } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { useFocusBack } from '@/shared/ui/focusBack';
import { hotkeysFor, paletteColor } from '../labels';
import { createTask, TASKS_KEY, useVersionStats, useVersions } from '../queries';
import { GuidelineField } from './GuidelineField';
import { LabelRows } from './LabelRows';
import { OntologyEditor } from './OntologyEditor';
import { newLabel, ontologyOf } from './ontologyDraft';
import { PlanFields } from './PlanFields';
import { PLAN_NAMES, planBody } from './plan';
import { TaskPreview } from './TaskPreview';
import { TemplateSelect } from './TemplateSelect';
import { BATCH_SIZES, type Modality, type TaskForm, useTaskForm, type Values } from './taskForm';

/** The form's names of what the server calls otherwise. */
const FIELD_NAMES = {
  batch_size: 'batchSize',
  audit_percent: 'auditPercent',
  'filter.prefix': 'prefix',
  'filter.where': 'where',
  ...PLAN_NAMES,
};

interface CreateTaskProps {
  /** The version to label, `digits@v3`; anything else leaves the choice open. */
  source: string;
  /** Files that have a label are offered, too. */
  labelled?: boolean;
  /** Objects are drawn, on the pictures that have none yet. */
  objects?: boolean;
  onClose: () => void;
}

export function CreateTask({ source, labelled = false, objects = false, onClose }: CreateTaskProps) {
  const { t } = useTranslation();
  useFocusBack();
  const project = useProject();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { form, isKept, startAnew, forget } = useTaskForm({ source, labelled, objects }, project);
  const send = async (values: Values) => {
    const task = await createTask(project, {
      name: values.name.trim(),
      dataset: `${values.dataset}@${values.ref}`,
      ...answersOf(values),
      // Null: with and without a label.
      filter: {
        ...(values.prefix && { prefix: values.prefix }),
        ...(values.where.trim() && { where: values.where.trim() }),
        labelled: values.unlabelled ? false : null,
      },
      batch_size: values.batchSize,
      audit_percent: values.auditPercent,
      guideline: values.guideline,
      ...planBody(values),
    });
    forget();
    void client.invalidateQueries({ queryKey: TASKS_KEY });
    if (task) await navigate({ to: '/labeling/$taskId', params: { taskId: task.id } });
  };
  return (
    <Drawer
      opened
      size="lg"
      onClose={onClose}
      title={<Text fw={650}>{t('labeling.newTask')}</Text>}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <FormFrame form={form} send={send} submit={t('common.create')} onCancel={onClose} fieldNames={FIELD_NAMES}>
        {isKept && (
          <Alert variant="light" py={6}>
            {t('labeling.create.kept')}{' '}
            <Button size="compact-xs" variant="default" onClick={startAnew}>
              {t('labeling.create.startAnew')}
            </Button>
          </Alert>
        )}
        <KindField form={form} />
        <TextInput label={t('common.name')} withAsterisk data-autofocus {...form.getInputProps('name')} />
        <DataFields form={form} />
        {/* The other kind of work has other templates. */}
        <TemplateSelect key={form.values.modality} form={form} />
        {form.values.modality === 'image-objects' ? <OntologyEditor form={form} /> : <LabelRows form={form} />}
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
        <PlanFields form={form} hasPreLabels={form.values.modality === 'image-objects'} />
        <GuidelineField {...form.getInputProps('guideline')} />
      </FormFrame>
    </Drawer>
  );
}

/** The part of a new task that its labelers answer with. */
function answersOf({ modality, labels, schema }: Values) {
  if (modality === 'image-objects') return { modality, ...ontologyOf(labels, schema) };
  // A parent is named by its id; without one, the server chooses ids from zero.
  const isNested = labels.some(({ parent }) => parent !== null);
  return {
    labels: labels.map(({ id, name, color, hotkey, parent }) => ({
      ...{ name: name.trim(), color, hotkey },
      ...(isNested && { id, parent }),
    })),
  };
}

function KindField({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  return (
    <div>
      <Text size="sm" fw={500} mb={4} id="new-task-kind">
        {t('labeling.create.kind')}
      </Text>
      <SegmentedControl
        fullWidth
        aria-labelledby="new-task-kind"
        data={(['image-classification', 'image-objects'] as const).map((value) => ({
          value,
          label: t(`labeling.create.modality.${value}`),
        }))}
        {...form.getInputProps('modality')}
        onChange={(value) => {
          // A number that somebody chose stays.
          if (form.values.batchSize === BATCH_SIZES[form.values.modality])
            form.setFieldValue('batchSize', BATCH_SIZES[value as Modality]);
          form.setFieldValue('modality', value as Modality);
          form.clearErrors();
        }}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {t(`labeling.create.modalityHint.${form.values.modality}`)}
      </Text>
    </div>
  );
}

function DataFields({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { dataset, ref } = form.values;
  const versions = useVersions(dataset);
  const stats = useVersionStats(dataset, ref);
  const { setFieldValue } = form;
  const suggestedFor = useRef('');
  // The classes that the data has already are the ones to label with, most probably. Once for each version: what
  // somebody has removed must not come back.
  useEffect(() => {
    const version = `${dataset}@${ref}`;
    if (!stats.data || suggestedFor.current === version) return;
    suggestedFor.current = version;
    const names = Object.keys(stats.data.labels).sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    if (names.length === 0) return;
    const hotkeys = hotkeysFor(names);
    const suggested = names.map((name, index) =>
      newLabel([], { id: index + 1, name, color: paletteColor(index), hotkey: hotkeys[index] ?? '' }),
    );
    setFieldValue('labels', (old) => (old.length > 0 ? old : suggested));
  }, [dataset, ref, stats.data, setFieldValue]);
  return (
    <>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <DatasetSelect
          flex={1}
          label={t('labeling.create.dataset')}
          withAsterisk
          nothingFoundMessage={t('labeling.create.noDatasets')}
          {...form.getInputProps('dataset')}
          value={dataset || null}
          onChange={(name, latest) => {
            setFieldValue('dataset', name ?? '');
            setFieldValue('ref', latest);
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
      <TextInput
        label={t('labeling.question')}
        placeholder={t('labeling.create.whereHint')}
        {...form.getInputProps('where')}
      />
      <TaskPreview form={form} />
    </>
  );
}
