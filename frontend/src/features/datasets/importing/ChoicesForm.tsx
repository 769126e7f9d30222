import {
  Autocomplete,
  Button,
  Card,
  Checkbox,
  Collapse,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ImportSigns, NewImport } from '@/api/contract/datasets';
import { FormFrame } from '@/shared/forms/FormFrame';
import { useHeadBranch, useOtherDatasets, type VersionAddress } from '../queries';
import { importing as words } from '../words/importing.en';
import { useImportActions, useSigns } from './queries';
import { Signs } from './Signs';

const route = getRouteApi('/datasets/$name/import');
const ARCHIVE = /\.(zip|tar|tgz|tbz2|txz|tar\.(gz|bz2|xz|zst))$/i;
const keys = <T extends object>(of: T) => Object.keys(of) as (keyof T & string)[];
const FORMATS = keys(words.formats);
const YOLO_TASKS = keys(words.yoloTasks);
const BOXES = keys(words.boxKinds);
const PERCENT = 100;
const DEFAULT_LOSS = 1;

const trimmed = (path: string) => path.trim().replace(/^\/+|\/+$/g, '');

interface ChoicesFormProps {
  /** The version that has the files. */
  source: VersionAddress;
  /** How the address of the page calls it: a branch, perhaps. */
  named: string;
}

/** Asks for the files, how to read them, and where they go; then a run looks at them. */
export function ChoicesForm({ source, named }: ChoicesFormProps) {
  const signs = useSigns(source.dataset, source.ref);
  const branch = useHeadBranch({ ...source, ref: named })?.name;
  // The defaults follow from both.
  if (signs.isPending) return null;
  return <Choices source={source} signs={signs.data} branch={branch} />;
}

interface ChoicesProps {
  source: VersionAddress;
  signs: ImportSigns | undefined;
  branch: string | undefined;
}

function Choices({ source, signs, branch }: ChoicesProps) {
  const { t } = useTranslation();
  const { path: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const actions = useImportActions();
  const archives = signs?.archives.map(({ path }) => path) ?? [];
  // A version of nothing but one archive: its files are wanted, not the archive beside them.
  const isArchive = archives.length === 1 && signs?.files === 1;
  const form = useForm({
    initialValues: {
      path: asked ?? (archives.length > 0 && signs?.signs.length === 0 ? (archives[0] ?? '') : ''),
      images: '',
      format: 'auto' as NonNullable<NewImport['format']>,
      output: branch && branch !== 'main' ? `${source.dataset}@${branch}` : source.dataset,
      into: undefined as string | undefined,
      keep_others: !isArchive,
      strict: false,
      allowed: DEFAULT_LOSS as number | string,
      yolo_task: 'auto' as NonNullable<NewImport['yolo_task']>,
      boxes: 'size' as NonNullable<NewImport['boxes']>,
      zip_encoding: '',
      encoding: '',
      delimiter: '',
      message: '',
    },
  });
  const { values } = form;
  const target = values.output.split('@')[0] ?? '';
  const isSame = target === source.dataset;
  const path = trimmed(values.path);
  // Files of a folder of the same dataset are its own: they stay where they are.
  const into = values.into ?? (isSame && !ARCHIVE.test(path) ? path : '');
  const others = useOtherDatasets(source.dataset, isSame ? '' : target);
  const send = async ({ allowed, ...rest }: typeof values) => {
    const body: NewImport = {
      ...rest,
      path,
      images: trimmed(rest.images),
      into: trimmed(into),
      source: `${source.dataset}@${source.ref}`,
      allowed_loss: (Number(allowed) || 0) / PERCENT,
    };
    const look = await actions.look(body);
    void navigate({ search: ({ ref }) => ({ ref, path: path || undefined, look }) });
  };
  const cancel = () =>
    void navigate({ to: '/datasets/$name', params: { name: source.dataset }, search: ({ ref }) => ({ ref }) });
  const choicesOf = <T extends string>(all: readonly T[], say: (one: T) => string) =>
    all.map((value) => ({ value, label: say(value) }));
  return (
    <Stack maw={720}>
      <Signs signs={signs} />
      <Card padding="lg">
        <FormFrame
          form={form}
          send={send}
          submit={t('importing.look')}
          onCancel={cancel}
          fieldNames={{ allowed_loss: 'allowed' }}
        >
          <Autocomplete
            label={t('importing.path')}
            description={t('importing.pathHint', { source: `${source.dataset}@${source.ref}` })}
            data={archives}
            autoComplete="off"
            {...form.getInputProps('path')}
          />
          <Select
            label={t('importing.format')}
            data={choicesOf(FORMATS, (one) => t(`importing.formats.${one}`))}
            allowDeselect={false}
            {...form.getInputProps('format')}
          />
          <Autocomplete
            label={t('importing.output')}
            description={t(isSame ? 'importing.outputSame' : 'importing.outputOther')}
            data={[source.dataset, ...others]}
            autoComplete="off"
            {...form.getInputProps('output')}
          />
          <Checkbox
            label={t('importing.keepOthers')}
            description={t('importing.keepOthersHint')}
            {...form.getInputProps('keep_others', { type: 'checkbox' })}
          />
          <TextInput label={t('importing.message')} {...form.getInputProps('message')} />
          <More>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Autocomplete
                label={t('importing.images')}
                description={t('importing.imagesHint')}
                data={archives.filter((one) => one !== path)}
                autoComplete="off"
                {...form.getInputProps('images')}
              />
              <TextInput
                label={t('importing.into')}
                description={t('importing.intoHint')}
                {...form.getInputProps('into')}
                value={into}
              />
              <NumberInput
                label={t('importing.allowed')}
                description={t('importing.allowedHint')}
                min={0}
                max={PERCENT}
                clampBehavior="strict"
                {...form.getInputProps('allowed')}
              />
              <Select
                label={t('importing.yoloTask')}
                data={choicesOf(YOLO_TASKS, (one) => t(`importing.yoloTasks.${one}`))}
                allowDeselect={false}
                {...form.getInputProps('yolo_task')}
              />
              <Select
                label={t('importing.boxes')}
                data={choicesOf(BOXES, (one) => t(`importing.boxKinds.${one}`))}
                allowDeselect={false}
                {...form.getInputProps('boxes')}
              />
              <TextInput
                label={t('importing.zipEncoding')}
                description={t('importing.zipEncodingHint')}
                {...form.getInputProps('zip_encoding')}
              />
              <TextInput
                label={t('importing.encoding')}
                description={t('importing.encodingHint')}
                {...form.getInputProps('encoding')}
              />
              <TextInput
                label={t('importing.delimiter')}
                description={t('importing.delimiterHint')}
                {...form.getInputProps('delimiter')}
              />
            </SimpleGrid>
            <Checkbox mt="md" label={t('importing.strict')} {...form.getInputProps('strict', { type: 'checkbox' })} />
          </More>
          <Text size="sm" c="dimmed">
            {t('importing.lookHint')}
          </Text>
        </FormFrame>
      </Card>
    </Stack>
  );
}

/** Choices that few imports need. */
function More({ children }: { children: React.ReactNode }) {
  const { t } = useTranslation();
  const id = useId();
  const [open, setOpen] = useState(false);
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<Icon size={14} aria-hidden />}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {t('importing.more')}
      </Button>
      <Collapse expanded={open} id={id}>
        {open && <div style={{ paddingTop: 8 }}>{children}</div>}
      </Collapse>
    </div>
  );
}
