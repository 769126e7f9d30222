import { Alert, Badge, Button, Group, Radio, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import { sentenceOf } from '@/api/errors';
import type { ClusterChoice, RunRequestRequest } from '@/api/schema';
import { sayDetail } from '@/i18n';
import { useProject } from '@/shared/domain/project';
import { AcceleratorField } from './AcceleratorField';

const COLORS: Record<ClusterChoice['fits'], string> = { now: 'teal', later: 'yellow', never: 'red' };
const OWN = 'local';

interface ClusterFieldProps {
  cluster: string;
  image: string;
  accelerator: string;
  /** How many nodes have these resources each. */
  nodes: number;
  resources: RunRequestRequest['resources'];
  errors: Record<string, string>;
  onChange: (values: { cluster?: string; image?: string; accelerator?: string }) => void;
}

/**
 * Where a run goes: each cluster with when it has room for these resources, and the first reason against it; and which
 * kind of GPUs it gets there.
 */
export default function ClusterField(props: ClusterFieldProps) {
  const { cluster, image, accelerator, nodes, resources, errors, onChange } = props;
  const { t } = useTranslation();
  const project = useProject();
  const needsGpus = (resources?.gpus ?? 0) > 0;
  const query = {
    ...resources,
    ...(needsGpus && accelerator && { accelerator }),
    ...(nodes > 1 && { nodes }),
  };
  const [text] = useDebouncedValue(JSON.stringify(query), 400);
  const asked = useMemo(() => JSON.parse(text) as typeof query, [text]);
  const choices = $api.useQuery(
    'get',
    '/api/v1/projects/{project}/cluster-choices/',
    { params: { path: { project }, query: asked } },
    { placeholderData: (before) => before, retry: false },
  );
  const found = choices.data?.results;
  const choose = (name: string) => {
    const has = found?.find((one) => one.name === name)?.accelerators.some(({ kind }) => kind === accelerator);
    onChange({
      ...(name === OWN ? { cluster: '', image: '' } : { cluster: name }),
      accelerator: has ? accelerator : '',
    });
  };
  return (
    <Stack gap="sm">
      <Radio.Group label={t('wizard.cluster')} value={cluster || OWN} error={errors.cluster} onChange={choose}>
        <Stack gap="xs" mt={6}>
          {found?.map((choice) => (
            <Choice key={choice.name} choice={choice} />
          ))}
        </Stack>
      </Radio.Group>
      {choices.isPending && <Skeleton h={60} />}
      {choices.isError && (
        <Alert color="red" title={t('wizard.clustersUnknown')}>
          <Button variant="default" size="xs" onClick={() => void choices.refetch()}>
            {t('common.retry')}
          </Button>
        </Alert>
      )}
      {needsGpus && (
        <AcceleratorField
          choice={found?.find((one) => one.name === (cluster || OWN))}
          value={accelerator}
          error={errors.accelerator}
          onChange={(kind) => onChange({ accelerator: kind })}
        />
      )}
      {cluster !== '' && (
        <TextInput
          label={t('wizard.image')}
          description={t('wizard.imageHint')}
          value={image}
          error={errors.image}
          onChange={(event) => onChange({ image: event.currentTarget.value })}
        />
      )}
    </Stack>
  );
}

function Choice({ choice }: { choice: ClusterChoice }) {
  const { t } = useTranslation();
  const { name, state, fits, reason } = choice;
  const code = reason && sentenceOf({ detail_code: reason.code, detail_params: reason.params });
  const room = choice.accelerators.map(({ kind, total, free }) =>
    free === null ? `${total} × ${kind}` : t('wizard.freeOf', { kind, total, free }),
  );
  const prices = choice.prices.map((price) => t('wizard.pricePerHour', { ...price, per_hour: Number(price.per_hour) }));
  return (
    <Radio
      value={name}
      label={
        <Group gap="xs">
          {name === OWN ? t('wizard.ownMachines') : name}
          <Badge size="sm" color={COLORS[fits]}>
            {t(`wizard.fits.${state === 'ready' ? fits : 'closed'}`)}
          </Badge>
          <Text span size="xs" c="dimmed">
            {[...room, ...prices].join(' · ')}
          </Text>
        </Group>
      }
      description={reason ? sayDetail(reason.sentence, code ?? undefined) : undefined}
    />
  );
}
