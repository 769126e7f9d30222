import { ActionIcon, Button, Fieldset, Select, SimpleGrid, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Quota, QuotaRequest, Quotas } from '@/api/schema';
import { useProjects } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { useSetQuotas } from './queries';

const GIB = 2 ** 30;
const COUNT = /^[1-9]\d{0,6}$/;
const LINE = /^([^=\s]+)=(\d{1,7})$/;

interface Row {
  project: string;
  cpus: string;
  /** GiB. */
  memory_bytes: string;
  pods: string;
  /** Lines of resource=count. */
  accelerators: string;
}
interface Values {
  hasCommon: boolean;
  every_project: Row;
  projects: Row[];
}
type QuotaForm = Pick<UseFormReturnType<Values>, 'getInputProps' | 'errors'>;

interface QuotasFormProps {
  cluster: string;
  quotas: Quotas;
  onDone: () => void;
}

/** The quota for every project and those of single ones; all of them are sent together. */
export default function QuotasForm({ cluster, quotas, onDone }: QuotasFormProps) {
  const { t } = useTranslation();
  const set = useSetQuotas(cluster);
  const all = useProjects();
  const { every_project: common, projects = [] } = quotas;
  const number = (text: string) => (!text.trim() || COUNT.test(text.trim()) ? null : t('clusterQuotas.wrongNumber'));
  const limits = {
    cpus: number,
    memory_bytes: number,
    pods: number,
    accelerators: (text: string) => {
      const line = wrongLine(text);
      return line > 0 ? t('clusterQuotas.wrongAccelerators', { line }) : null;
    },
  };
  const form = useForm<Values>({
    initialValues: {
      hasCommon: common != null,
      every_project: rowOf(common ?? null),
      projects: projects.map((one) => ({ ...rowOf(one), project: one.project })),
    },
    validate: {
      every_project: limits,
      projects: {
        ...limits,
        project: (slug, values) => {
          if (!slug) return t('clusterQuotas.projectMissing');
          const isTwice = values.projects.filter((one) => one.project === slug).length > 1;
          return isTwice ? t('clusterQuotas.projectTwice') : null;
        },
      },
    },
  });
  const send = async (values: Values) => {
    await set({
      every_project: values.hasCommon ? sentQuota(values.every_project) : null,
      projects: values.projects.map((row) => ({ ...sentQuota(row), project: row.project })),
    });
    notifySuccess(t('clusterQuotas.kept', { name: cluster }));
    onDone();
  };
  const slugs = (all.data?.results ?? []).map(({ slug }) => slug);
  const known = [...new Set([...slugs, ...projects.map((one) => one.project)])].toSorted();
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {t('clusterQuotas.hint')}
      </Text>
      <Switch label={t('clusterQuotas.hasCommon')} {...form.getInputProps('hasCommon', { type: 'checkbox' })} />
      {form.values.hasCommon && (
        <Fieldset legend={t('clusterQuotas.everyProject')} variant="filled" p="sm">
          <LimitFields form={form} path="every_project" />
        </Fieldset>
      )}
      {form.values.projects.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name of its own until it is chosen
        <Fieldset key={index} legend={row.project || t('clusterQuotas.newProject')} variant="filled" p="sm">
          <Select
            label={t('clusterQuotas.project')}
            data={known}
            searchable
            allowDeselect={false}
            mb="xs"
            {...form.getInputProps(`projects.${index}.project`)}
          />
          <LimitFields form={form} path={`projects.${index}`} />
          <ActionIcon
            variant="subtle"
            color="red"
            mt="xs"
            aria-label={t('clusterQuotas.remove', { project: row.project || t('clusterQuotas.newProject') })}
            onClick={() => form.removeListItem('projects', index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Fieldset>
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('projects', rowOf(null))}
        >
          {t('clusterQuotas.add')}
        </Button>
      </div>
    </FormFrame>
  );
}

function LimitFields({ form, path }: { form: QuotaForm; path: string }) {
  const { t } = useTranslation();
  const field = (name: keyof Row) => form.getInputProps(`${path}.${name}`);
  const prefix = `${path}.accelerators.`;
  // The server names the resource that is wrong; the form has one field for all of them.
  const wrong = Object.entries(form.errors).flatMap(([name, text]) =>
    name.startsWith(prefix) ? [`${name.slice(prefix.length)}: ${text}`] : [],
  );
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <TextInput label={t('clusterQuotas.cpus')} inputMode="numeric" autoComplete="off" {...field('cpus')} />
      <TextInput label={t('clusterQuotas.memory')} inputMode="numeric" autoComplete="off" {...field('memory_bytes')} />
      <TextInput label={t('clusterQuotas.pods')} inputMode="numeric" autoComplete="off" {...field('pods')} />
      <Textarea
        label={t('clusterQuotas.accelerators')}
        description={t('clusterQuotas.acceleratorsHint')}
        autosize
        spellCheck={false}
        style={{ gridColumn: '1 / -1' }}
        {...field('accelerators')}
        error={form.errors[`${path}.accelerators`] ?? (wrong.length > 0 ? wrong.join(' ') : undefined)}
      />
    </SimpleGrid>
  );
}

const textOf = (value: number | null | undefined): string => (value == null ? '' : String(value));

const rowOf = (quota: Quota | null): Row => ({
  project: '',
  cpus: textOf(quota?.cpus),
  memory_bytes: quota?.memory_bytes == null ? '' : String(Math.ceil(quota.memory_bytes / GIB)),
  pods: textOf(quota?.pods),
  accelerators: Object.entries(quota?.accelerators ?? {})
    .map(([name, count]) => `${name}=${count}`)
    .join('\n'),
});

const linesOf = (text: string) => text.split('\n').map((line) => line.trim());

/** The number of the first line that is no resource=count, 0 if all are. */
const wrongLine = (text: string): number => linesOf(text).findIndex((line) => line !== '' && !LINE.test(line)) + 1;

const numberOf = (text: string): number | null => (text.trim() ? Number(text) : null);

function sentQuota(row: Row): QuotaRequest {
  const memory = numberOf(row.memory_bytes);
  const counts = linesOf(row.accelerators).flatMap((line) => {
    const [, name = '', count = ''] = LINE.exec(line) ?? [];
    return name ? [[name, Number(count)] as const] : [];
  });
  return {
    cpus: numberOf(row.cpus),
    memory_bytes: memory === null ? null : memory * GIB,
    pods: numberOf(row.pods),
    accelerators: Object.fromEntries(counts),
  };
}
