import { Card, FileInput, Select, Skeleton, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { NewLabelExport, NewLabelImport } from '@/api/contract/labeling';
import { useProject } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { exchange as words } from '../words/exchange.en';
import { useLabelTask, useTransferActions } from './queries';
import { sendLabels } from './sendLabels';

const keys = <T extends object>(of: T) => Object.keys(of) as (keyof T & string)[];
const FORMATS = keys(words.formats);
const TASKS = ['detect', 'segment', 'pose', 'obb'] as const;
const MOST_BYTES = 8 * 2 ** 30;

interface FormProps {
  name: string;
  onSent: (transfer: string | undefined) => void;
  onCancel: () => void;
}

function useChoices() {
  const { t } = useTranslation();
  return {
    formats: FORMATS.map((value) => ({ value, label: t(`exchange.formats.${value}`) })),
    existing: keys(words.existingOf).map((value) => ({ value, label: t(`exchange.existingOf.${value}`) })),
    tasks: [{ value: '', label: t('exchange.byFile') }, ...TASKS.map((value) => ({ value, label: value }))],
  };
}

/** Uploads a file of labels; a worker then reads it and shows its counts. */
export function ImportForm({ name, branch, onSent, onCancel }: FormProps & { branch: string }) {
  const { t } = useTranslation();
  const project = useProject();
  const choices = useChoices();
  const actions = useTransferActions();
  const abort = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    abort.current = controller;
    return () => controller.abort();
  }, []);
  const form = useForm({
    initialValues: {
      file: null as File | null,
      format: 'auto' as NonNullable<NewLabelImport['format']>,
      branch,
      existing: 'replace' as NonNullable<NewLabelImport['existing']>,
      yolo_task: '' as NonNullable<NewLabelImport['yolo_task']>,
    },
    validate: {
      file: (file) =>
        file === null ? t('exchange.fileMissing') : file.size > MOST_BYTES ? t('exchange.fileTooLarge') : null,
    },
  });
  const send = async ({ file, ...rest }: typeof form.values) => {
    if (!file) return;
    const upload = await sendLabels({ project, dataset: name }, file, abort.current.signal);
    onSent(await actions.askImport({ ...rest, dataset: name, upload, filename: file.name }));
  };
  return (
    <Card padding="lg" maw={720} component="section" aria-label={t('exchange.importTitle')}>
      <FormFrame
        form={form}
        send={send}
        submit={t('exchange.look')}
        onCancel={onCancel}
        fieldNames={{ upload: 'file', filename: 'file' }}
      >
        <FileInput
          label={t('exchange.file')}
          description={t('exchange.fileHint')}
          clearable
          {...form.getInputProps('file')}
        />
        <Select
          label={t('exchange.format')}
          data={choices.formats}
          allowDeselect={false}
          {...form.getInputProps('format')}
        />
        {form.values.format === 'yolo' && (
          <Select
            label={t('exchange.yoloTask')}
            data={choices.tasks}
            allowDeselect={false}
            {...form.getInputProps('yolo_task')}
          />
        )}
        <Select
          label={t('exchange.existing')}
          data={choices.existing}
          allowDeselect={false}
          {...form.getInputProps('existing')}
        />
        <TextInput label={t('exchange.branch')} {...form.getInputProps('branch')} />
        {form.submitting && form.values.file && (
          <Text size="sm" role="status" style={{ overflowWrap: 'anywhere' }}>
            {t('exchange.sending', { name: form.values.file.name })}
          </Text>
        )}
      </FormFrame>
    </Card>
  );
}

/** Asks for an export; a worker then counts its losses. */
export function ExportForm(props: FormProps & { version: string; task: string | undefined }) {
  const { name, version, task, onSent, onCancel } = props;
  const { t } = useTranslation();
  const choices = useChoices();
  const actions = useTransferActions();
  const form = useForm({
    initialValues: {
      version,
      format: 'coco' as NewLabelExport['format'],
      where: '',
      yolo_task: '' as NonNullable<NewLabelExport['yolo_task']>,
    },
  });
  const send = async ({ version: ref, ...rest }: typeof form.values) =>
    onSent(await actions.askExport(task ? { ...rest, task } : { ...rest, dataset: `${name}@${ref}` }));
  return (
    <Card padding="lg" maw={720} component="section" aria-label={t('exchange.exportTitle')}>
      <FormFrame
        form={form}
        send={send}
        submit={t('exchange.count')}
        onCancel={onCancel}
        fieldNames={{ dataset: 'version' }}
      >
        {task ? <OfTask id={task} /> : <TextInput label={t('exchange.source')} {...form.getInputProps('version')} />}
        <Select
          label={t('exchange.format')}
          data={choices.formats.filter(({ value }) => value !== 'auto')}
          allowDeselect={false}
          {...form.getInputProps('format')}
        />
        {form.values.format === 'yolo' && (
          <Select
            label={t('exchange.yoloTask')}
            data={choices.tasks}
            allowDeselect={false}
            {...form.getInputProps('yolo_task')}
          />
        )}
        {!task && (
          <TextInput
            label={t('exchange.where')}
            description={t('exchange.whereHint')}
            {...form.getInputProps('where')}
          />
        )}
      </FormFrame>
    </Card>
  );
}

/** The labels that an export of a task takes, and the version that has them. */
function OfTask({ id }: { id: string }) {
  const { t } = useTranslation();
  const query = useLabelTask(id);
  if (query.error && !query.data)
    return <ErrorState compact error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton height={36} />;
  const { name, dataset, progress, output_version: version } = query.data;
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {t('exchange.ofTask', { name, count: progress.accepted })}{' '}
      {version ? t('exchange.taskPublished', { version: `${dataset}@${version.ref}` }) : t('exchange.taskOpen')}{' '}
      <AnchorLink to="/labeling/$taskId" params={{ taskId: id }} fz="inherit">
        {t('exchange.toTask')}
      </AnchorLink>
    </Text>
  );
}
