import { Alert, MultiSelect, Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ClusterDetail } from '@/api/schema';
import { useProjects } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifySuccess } from '@/shared/ui/undo';
import { useClusterActions } from './queries';

const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

interface AccessFormProps {
  cluster: ClusterDetail;
  onDone: () => void;
}

/** Which projects may use a cluster, and the namespace of Atom's objects. The button says when it takes access away. */
export default function AccessForm({ cluster, onDone }: AccessFormProps) {
  const { t } = useTranslation();
  const { change } = useClusterActions(cluster.name);
  const all = useProjects();
  const before = cluster.projects;
  const form = useForm({
    initialValues: {
      namespace: cluster.namespace ?? '',
      access: before === null ? 'all' : 'some',
      projects: before ?? [],
    },
    validate: { namespace: (value) => (NAMESPACE.test(value) ? null : t('clusters.namespaceWrong')) },
  });
  const { access, projects, namespace } = form.values;
  const known = [...new Set([...(all.data?.results ?? []).map(({ slug }) => slug), ...(before ?? [])])].toSorted();
  const losing = access === 'all' ? [] : (before ?? known).filter((slug) => !projects.includes(slug));
  const send = async () => {
    const next = access === 'all' ? null : projects.toSorted();
    await change({
      ...(namespace !== cluster.namespace && { namespace }),
      ...(JSON.stringify(next) !== JSON.stringify(before) && { projects: next }),
    });
    notifySuccess(t('clusters.accessKept', { name: cluster.name }));
    onDone();
  };
  const submit = losing.length > 0 ? t('clusters.takeAway', { count: losing.length }) : t('common.save');
  return (
    <FormFrame form={form} send={send} submit={submit} onCancel={onDone} ready={!all.isPending}>
      {all.error != null && <ErrorState error={all.error} compact onRetry={() => void all.refetch()} />}
      <Radio.Group label={t('clusters.access')} {...form.getInputProps('access')}>
        <Stack gap="xs" mt={6}>
          <Radio value="all" label={t('clusters.accessAll')} />
          <Radio value="some" label={t('clusters.accessSome')} />
        </Stack>
      </Radio.Group>
      {access === 'some' && (
        <MultiSelect
          label={t('clusters.projects')}
          description={t('clusters.accessHint')}
          data={known}
          searchable
          clearable
          nothingFoundMessage={t('clusters.noProject')}
          {...form.getInputProps('projects')}
        />
      )}
      {losing.length > 0 && (
        <Alert color="orange" role="status" title={t('clusters.losing', { count: losing.length })}>
          <div style={{ overflowWrap: 'anywhere' }}>{losing.join(', ')}</div>
          {t('clusters.losingHint')}
        </Alert>
      )}
      <TextInput
        label={t('clusters.namespace')}
        description={t('clusters.namespaceChangeHint')}
        autoComplete="off"
        maxLength={63}
        {...form.getInputProps('namespace')}
      />
    </FormFrame>
  );
}
