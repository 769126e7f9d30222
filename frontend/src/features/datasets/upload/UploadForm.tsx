import { Alert, Autocomplete, Checkbox, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconFolders } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/shared/domain/me';
import { useProject } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { useRefs, useVersion } from '../queries';
import { type Chosen, placed, type UploadFile } from './chosen';
import { type FolderShape, folderShape } from './classFolders';
import { FileProblems } from './FileProblems';
import { pathProblem } from './packing/paths';
import { bytesOf, type Order } from './saved';
import type { UploadSearch } from './search';
import { labelsFrom, type Pushed } from './uploadApi';
import { NAME, useTarget } from './useTarget';

/** A dataset's name made of a folder's: `My Pets (2024)` → `my-pets-2024`. */
export const nameFrom = (folder: string): string =>
  folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '');

const folderPrefix = (text: string): string => {
  const plain = text.replace(/^\/+|\/+$/g, '');
  return plain && `${plain}/`;
};

const folderProblem = (text: string) => (folderPrefix(text) ? pathProblem(folderPrefix(text).slice(0, -1)) : null);

/** The shape of the folders, which explains why labels are on. */
function Recognised({ shape: { classes, splits } }: { shape: FolderShape }) {
  const { t } = useTranslation();
  const names = (all: readonly string[]) => all.slice(0, 5).join(', ') + (all.length > 5 ? ' …' : '');
  const found = [...new Set(splits.map(([, split]) => split))];
  if (classes.length === 0 && splits.length === 0) return null;
  return (
    <Alert variant="light" py={8} icon={<IconFolders size={16} aria-hidden />} role="status">
      {classes.length > 0 && (
        <Text size="sm">{t('upload.classes', { count: classes.length, names: names(classes) })}</Text>
      )}
      {splits.length > 0 && <Text size="sm">{t('upload.splitFolders', { names: names(found) })}</Text>}
    </Alert>
  );
}

interface UploadFormProps {
  chosen: Chosen;
  search: UploadSearch;
  onStart: (order: Order, files: UploadFile[]) => void;
  onCancel: () => void;
}

/** Where what was chosen goes, and how it becomes a version. */
export function UploadForm({ chosen, search, onStart, onCancel }: UploadFormProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const project = useProject();
  const owner = useMe()?.id ?? '';
  const form = useForm({
    initialValues: {
      dataset: search.dataset ?? nameFrom(chosen.root),
      branch: search.branch ?? 'main',
      folder: search.folder ?? '',
      keepName: false,
      mode: search.mode ?? 'add',
      labels: undefined as boolean | undefined,
      takesSplits: true,
      message: '',
    },
    validate: {
      dataset: (value) => (NAME.test(value) ? null : t('datasets.nameInvalid')),
      folder: (value) => {
        const problem = folderProblem(value);
        return problem && t('upload.folderRefused', { problem: t(`upload.problem.${problem}`) });
      },
    },
  });
  const { dataset, folder, keepName } = form.values;
  const { names, isThere, error, refetch } = useTarget(dataset);
  // The dataset of an address is expected to exist: fields below must not move under the pointer once that is known.
  const mayBeThere = isThere ?? dataset === search.dataset;
  const found = useRefs(isThere ? dataset : undefined).branches.map(({ name }) => name);
  // The chosen one may be beyond the page of branches, or on its way.
  const branches = isThere ? [...new Set([...found, form.values.branch])] : [];
  const head = useVersion(dataset, isThere ? form.values.branch : undefined).data;
  const goesOn = labelsFrom(undefined, (head?.provenance ?? {}) as Pushed) === 'folder';
  // A wrong folder is reported at its field, not once for every file.
  const prefix = folderProblem(folder) ? '' : folderPrefix(folder);
  const { files, problems } = useMemo(() => placed(chosen, { folder: prefix, keepName }), [chosen, prefix, keepName]);
  const bytes = useMemo(() => bytesOf(files), [files]);
  const shape = useMemo(() => folderShape(files.map(({ path }) => path)), [files]);
  // The labels of the branch's last push go on. A folder of classes turns them on, and its person may turn them off.
  const labels = form.values.labels ?? (goesOn || shape.classes.length > 0);
  const send = async ({ mode, takesSplits, ...values }: typeof form.values) => {
    const order: Order = {
      ...values,
      labels: values.labels ?? (shape.classes.length > 0 || undefined),
      splits: takesSplits && shape.splits.length > 0 ? shape.splits : undefined,
      folder: prefix,
      branch: isThere ? values.branch : 'main',
      id: crypto.randomUUID(),
      owner,
      project,
      replaces: mode === 'replace',
      root: chosen.root,
      startedAt: new Date().toISOString(),
      filesTotal: files.length,
      bytesTotal: bytes,
    };
    onStart(order, files);
  };
  return (
    <FormFrame
      form={form}
      send={send}
      submit={t('upload.start')}
      onCancel={onCancel}
      ready={isThere !== undefined && files.length > 0}
    >
      <Text fw={600}>
        {chosen.root && `${chosen.root} · `}
        {t('datasets.matching', { count: files.length })} · {format.bytes(bytes)}
      </Text>
      <FileProblems title={t('upload.refused', { count: problems.length })} problems={problems} />
      {files.length === 0 && <Text size="sm">{t('upload.nothing')}</Text>}
      <Autocomplete
        label={t('upload.dataset')}
        description={t(isThere === false && NAME.test(dataset) ? 'upload.datasetNew' : 'upload.datasetHint')}
        data={names}
        autoComplete="off"
        {...form.getInputProps('dataset')}
        onChange={(name) => {
          // A branch belongs to its dataset.
          form.setValues({ dataset: name, branch: (name === search.dataset && search.branch) || 'main' });
        }}
      />
      {error !== null && <ErrorState error={error} compact onRetry={refetch} />}
      {branches.length > 1 && (
        <Select label={t('datasets.branch')} data={branches} allowDeselect={false} {...form.getInputProps('branch')} />
      )}
      <TextInput
        label={t('upload.folder')}
        description={t('upload.folderHint')}
        placeholder="raw/2024"
        {...form.getInputProps('folder')}
      />
      {chosen.root && (
        <Checkbox
          label={t('upload.keepName', { name: `${chosen.root}/` })}
          {...form.getInputProps('keepName', { type: 'checkbox' })}
        />
      )}
      {mayBeThere && (
        <Radio.Group label={t('upload.mode')} {...form.getInputProps('mode')}>
          <Stack gap={6} mt={4}>
            <Radio value="add" label={t('upload.add')} description={t('upload.addHint')} />
            <Radio value="replace" label={t('upload.replace')} description={t('upload.replaceHint')} />
          </Stack>
        </Radio.Group>
      )}
      <Recognised shape={shape} />
      <Checkbox
        label={t('upload.labels')}
        description={t(goesOn ? 'upload.labelsGoOn' : 'upload.labelsHint')}
        checked={labels}
        onChange={({ currentTarget }) => form.setFieldValue('labels', currentTarget.checked)}
      />
      {shape.splits.length > 0 && (
        <Checkbox
          label={t('upload.splits')}
          description={t('upload.splitsHint')}
          {...form.getInputProps('takesSplits', { type: 'checkbox' })}
        />
      )}
      <TextInput label={t('datasets.message')} maxLength={10_000} {...form.getInputProps('message')} />
    </FormFrame>
  );
}
