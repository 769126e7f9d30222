import { Alert, Button, Group, Radio, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, api } from '@/api/client';
import type { Run } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import type { ClusterChoice } from '@/api/schema';
import { fieldWords } from '@/shared/domain/problemWords';
import { useProject } from '@/shared/domain/project';
import { useRefused } from '@/shared/forms/useRefused';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifySuccess } from '@/shared/ui/undo';
import { runName } from '../list/columns';
import { sayReason } from '../places/sayReason';
import { useRefreshRun } from '../queries';
import { AcceleratorField } from '../wizard/AcceleratorField';
import { Sum } from '../wizard/Nodes';

/** Whether a cluster would hold the run with another kind of GPUs: people choose that below. */
const isAboutKind = (reason: ClusterChoice['reason']): boolean => Boolean(reason?.code.startsWith('jobs.accelerator_'));

/** Lets a run go on in another registered cluster, from its last checkpoint. */
export default function MoveDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  const project = useProject();
  const form = useForm({
    initialValues: { cluster: '', image: run.image, accelerator: run.accelerator },
    validate: { cluster: (value) => (value ? null : t('runpage.move.choose')) },
  });
  const { cluster, accelerator } = form.values;
  const query = {
    ...run.resources,
    ...(accelerator && { accelerator }),
    ...(run.nodes > 1 && { nodes: run.nodes }),
  };
  const choices = $api.useQuery(
    'get',
    '/api/v1/projects/{project}/cluster-choices/',
    { params: { path: { project }, query } },
    { placeholderData: (before) => before },
  );
  const others = choices.data?.results.filter(({ name }) => name !== 'local' && name !== run.cluster) ?? [];
  const choice = others.find(({ name }) => name === cluster);
  const [error, setError] = useRefused(form);
  const submit = form.onSubmit(async (body) => {
    setError(null);
    try {
      await api.POST('/api/v1/runs/{run_id}/move/', { params: { path: { run_id: run.id } }, body });
      notifySuccess(t('runpage.move.asked', { name: runName(run), cluster: body.cluster }));
      refresh();
      onClose();
    } catch (thrown) {
      form.setErrors(fieldWords(asApiError(thrown)));
      setError(thrown);
    }
  });
  return (
    <Dialog opened onClose={onClose} title={t('runpage.move.title', { name: runName(run) })}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{t('runpage.move.hint')}</Text>
          {run.nodes > 1 && <Sum nodes={run.nodes} resources={run.resources} />}
          {choices.isPending && <Skeleton h={60} aria-busy />}
          {choices.error && <ErrorState compact error={choices.error} onRetry={() => void choices.refetch()} />}
          {choices.data && others.length === 0 && <Alert color="yellow">{t('runpage.move.none')}</Alert>}
          {others.length > 0 && (
            <Radio.Group label={t('runpage.move.cluster')} {...form.getInputProps('cluster')}>
              <Stack gap="xs" mt={6}>
                {others.map(({ name, fits, reason }) => (
                  <Radio
                    key={name}
                    value={name}
                    disabled={fits === 'never' && !isAboutKind(reason)}
                    label={name}
                    description={reason ? sayReason(reason) : t('wizard.fits.now')}
                  />
                ))}
              </Stack>
            </Radio.Group>
          )}
          {cluster !== '' && run.resources.gpus > 0 && (
            <AcceleratorField
              kinds={choice?.accelerators ?? []}
              prices={choice?.prices ?? []}
              value={accelerator}
              error={form.errors.accelerator}
              onChange={(kind) => form.setFieldValue('accelerator', kind)}
            />
          )}
          <TextInput label={t('wizard.image')} description={t('wizard.imageHint')} {...form.getInputProps('image')} />
          {error != null && <ErrorState compact error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={form.submitting} disabled={others.length === 0}>
              {t('runpage.move.move')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
