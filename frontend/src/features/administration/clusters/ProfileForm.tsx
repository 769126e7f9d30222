import {
  ActionIcon,
  Button,
  Checkbox,
  Fieldset,
  NumberInput,
  Select,
  SimpleGrid,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Profile, ProfileChangesRequest, TolerationRequest } from '@/api/schema';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { useSetProfile } from './queries';

const MAX_ROWS = 20;
const MAX_DEVICES = 64;
const KIB = 1024;
const LIMIT = /^[1-9]\d{0,11}$/;
const LINE = /^([^=\s]+)=(.*)$/;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

interface Values {
  priority_class: string;
  tolerations: Required<TolerationRequest>[];
  rdma_resource: string;
  rdma_count: number;
  /** KiB; empty: unlimited. */
  memlock_bytes: string;
  /** Lines of NAME=value. */
  nccl: string;
  image_repository: string;
  /** A Docker configuration; empty: the stored one stays. */
  image_credentials: string;
  forgetsCredentials: boolean;
}

type TolerationForm = Pick<UseFormReturnType<Values>, 'getInputProps' | 'removeListItem' | 'values'>;

interface ProfileFormProps {
  cluster: string;
  profile: Profile;
  onDone: () => void;
}

/** Priority, tolerations, RDMA and settings of the pods that new runs get. */
export default function ProfileForm({ cluster, profile, onDone }: ProfileFormProps) {
  const { t } = useTranslation();
  const set = useSetProfile(cluster);
  const form = useForm<Values>({
    initialValues: valuesOf(profile),
    validate: {
      memlock_bytes: (text) => (!text.trim() || LIMIT.test(text.trim()) ? null : t('clusterProfile.memlockWrong')),
      nccl: (text) => {
        const { wrongLine, twice } = settingsOf(text);
        if (wrongLine > 0) return t('clusterProfile.settingsWrong', { line: wrongLine });
        return twice ? t('clusterProfile.settingsTwice', { name: twice }) : null;
      },
    },
  });
  const send = async (values: Values) => {
    await set(sentProfile(values));
    notifySuccess(t('clusterProfile.kept', { name: cluster }));
    onDone();
  };
  // The server names the setting that is wrong, the form has one field for all of them.
  const wrong = Object.entries(form.errors).flatMap(([name, text]) =>
    name.startsWith('nccl.') ? [`${name.slice('nccl.'.length)}: ${text}`] : [],
  );
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <TextInput
        label={t('clusterProfile.priorityClass')}
        description={t('clusterProfile.priorityClassHint')}
        autoComplete="off"
        {...form.getInputProps('priority_class')}
      />
      {form.values.tolerations.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name of its own
        <TolerationFields key={index} index={index} form={form} />
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={form.values.tolerations.length >= MAX_ROWS}
          onClick={() => form.insertListItem('tolerations', { key: '', operator: 'Equal', value: '', effect: '' })}
        >
          {t('clusterProfile.add')}
        </Button>
      </div>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={t('clusterProfile.resource')}
          description={t('clusterProfile.resourceHint')}
          autoComplete="off"
          {...form.getInputProps('rdma_resource')}
        />
        <NumberInput
          label={t('clusterProfile.count')}
          min={1}
          max={MAX_DEVICES}
          allowDecimal={false}
          {...form.getInputProps('rdma_count')}
        />
      </SimpleGrid>
      <TextInput
        label={t('clusterProfile.memlock')}
        description={t('clusterProfile.memlockHint')}
        inputMode="numeric"
        autoComplete="off"
        {...form.getInputProps('memlock_bytes')}
      />
      <Textarea
        label={t('clusterProfile.settings')}
        description={t('clusterProfile.settingsHint')}
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        {...form.getInputProps('nccl')}
        error={form.errors.nccl ?? (wrong.length > 0 ? wrong.join(' ') : undefined)}
      />
      <Text size="sm" c="dimmed">
        {t('clusterProfile.rdmaHint')}
      </Text>
      <ImageFields form={form} hasCredentials={profile.has_image_credentials} />
    </FormFrame>
  );
}

function ImageFields({ form, hasCredentials }: { form: UseFormReturnType<Values>; hasCredentials: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <TextInput
        label={t('clusterProfile.images')}
        description={t('clusterProfile.imagesHint')}
        autoComplete="off"
        {...form.getInputProps('image_repository')}
      />
      <Textarea
        label={t('clusterProfile.credentials')}
        description={t('clusterProfile.credentialsHint')}
        minRows={2}
        maxRows={8}
        autosize
        autoComplete="off"
        spellCheck={false}
        disabled={form.values.forgetsCredentials}
        {...form.getInputProps('image_credentials')}
      />
      {hasCredentials && (
        <Checkbox
          label={t('clusterProfile.forget')}
          {...form.getInputProps('forgetsCredentials', { type: 'checkbox' })}
        />
      )}
    </>
  );
}

function TolerationFields({ index, form }: { index: number; form: TolerationForm }) {
  const { t } = useTranslation();
  const number = index + 1;
  const field = (name: keyof TolerationRequest) => form.getInputProps(`tolerations.${index}.${name}`);
  const { operator } = form.values.tolerations[index] as TolerationRequest;
  return (
    <Fieldset legend={t('clusterProfile.toleration', { number })} variant="filled" p="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label={t('clusterProfile.key')} autoComplete="off" {...field('key')} />
        <Select
          label={t('clusterProfile.operator')}
          data={['Equal', 'Exists']}
          allowDeselect={false}
          {...field('operator')}
        />
        <TextInput
          label={t('clusterProfile.value')}
          autoComplete="off"
          maxLength={63}
          disabled={operator === 'Exists'}
          {...field('value')}
        />
        <Select
          label={t('clusterProfile.effect')}
          data={[{ value: '', label: t('clusterProfile.everyEffect') }, ...EFFECTS]}
          allowDeselect={false}
          {...field('effect')}
        />
      </SimpleGrid>
      <ActionIcon
        variant="subtle"
        color="red"
        mt="xs"
        aria-label={t('clusterProfile.remove', { number })}
        onClick={() => form.removeListItem('tolerations', index)}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Fieldset>
  );
}

const valuesOf = (profile: Profile): Values => ({
  priority_class: profile.priority_class ?? '',
  tolerations: (profile.tolerations ?? []).map(({ key = '', operator = 'Equal', value = '', effect = '' }) => ({
    key,
    operator,
    value,
    effect,
  })),
  rdma_resource: profile.rdma_resource ?? '',
  rdma_count: profile.rdma_count ?? 1,
  memlock_bytes: profile.memlock_bytes == null ? '' : String(Math.ceil(profile.memlock_bytes / KIB)),
  nccl: Object.entries(profile.nccl ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join('\n'),
  image_repository: profile.image_repository ?? '',
  image_credentials: '',
  forgetsCredentials: false,
});

/** The settings of the lines, the number of the first line that is none (else 0), and a name that comes twice. */
function settingsOf(text: string) {
  const settings: Record<string, string> = {};
  let wrongLine = 0;
  let twice = '';
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.trim()) continue;
    const parts = LINE.exec(line.trim());
    if (!parts) {
      wrongLine ||= index + 1;
      continue;
    }
    const [, name = '', value = ''] = parts;
    if (name in settings) twice ||= name;
    settings[name] = value;
  }
  return { settings, wrongLine, twice };
}

const sentProfile = (values: Values): ProfileChangesRequest => ({
  priority_class: values.priority_class.trim(),
  tolerations: values.tolerations.map((one) => ({
    ...one,
    key: one.key.trim(),
    value: one.operator === 'Exists' ? '' : one.value.trim(),
  })),
  rdma_resource: values.rdma_resource.trim(),
  rdma_count: Number(values.rdma_count),
  nccl: settingsOf(values.nccl).settings,
  memlock_bytes: values.memlock_bytes.trim() ? Number(values.memlock_bytes) * KIB : null,
  image_repository: values.image_repository.trim(),
  image_credentials: values.forgetsCredentials ? '' : values.image_credentials.trim() || null,
});
