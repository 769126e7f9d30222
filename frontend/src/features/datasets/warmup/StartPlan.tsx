import { Button, Checkbox, Group, NativeSelect, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { WarmChoice } from '@/api/contract/datasets';
import { FormFrame } from '@/shared/forms/FormFrame';
import { useFormat } from '@/shared/ui/format';
import { notifySuccess } from '@/shared/ui/undo';
import type { VersionAddress } from '../queries';
import { roomOf } from './ClusterNodes';
import {
  CRONS,
  canTake,
  emptyForm,
  FIELD_NAMES,
  isCopies,
  isDays,
  isHours,
  isRate,
  isUsable,
  missingBytes,
  type PlanForm,
  PRIORITIES,
  planOf,
  STAYS,
  scheduleOf,
} from './newPlan';
import { shareOf } from './progress';
import { useStartPlan, useStartSchedule } from './queries';

interface StartPlanProps {
  address: Pick<VersionAddress, 'dataset' | 'ref'>;
  /** The branch whose newest versions a schedule warms. */
  branch: string;
  choices: WarmChoice[];
  onDone: () => void;
  onStarted: (id: string) => void;
}

const LEVELS = ['low', 'normal', 'high'] as const;
const usableNodes = (choices: WarmChoice[], cluster: string) =>
  choices.find((choice) => choice.cluster === cluster)?.nodes.filter(isUsable).length ?? 0;

/** The form of a warm-up plan: where the version goes, how fast, until when, and whether it stays. */
export default function StartPlan({ address, branch, choices, onDone, onStarted }: StartPlanProps) {
  const { t } = useTranslation();
  const start = useStartPlan(address);
  const schedule = useStartSchedule(address.dataset);
  const name = `${address.dataset}@${address.ref}`;
  const form = useForm<PlanForm>({
    initialValues: emptyForm(choices),
    validate: {
      copies: (text, { where, cluster }) => {
        const most = usableNodes(choices, cluster);
        return where === 'nodes' || isCopies(text, most) ? null : t('warmup.copiesWrong', { most });
      },
      nodes: (names, { where }) => (where === 'copies' || names.length > 0 ? null : t('warmup.nodesMissing')),
      cron: (text, { when }) => (when === 'now' || text.trim() ? null : t('warmup.cronMissing')),
      rate: (text) => (isRate(text) ? null : t('warmup.rateWrong')),
      hours: (text) => (isHours(text) ? null : t('warmup.hoursWrong')),
      days: (text, { stays }) => (stays !== 'days' || isDays(text) ? null : t('warmup.daysWrong')),
    },
  });
  const send = async (values: PlanForm) => {
    if (values.when === 'times') {
      await schedule(scheduleOf(values, branch));
      onDone();
      notifySuccess(t('warmup.scheduled', { name: `${address.dataset}@${branch}` }));
      return;
    }
    const { id } = await start(planOf(values, Date.now()));
    onDone();
    notifySuccess(t('warmup.started', { name }));
    onStarted(id);
  };
  const { stays } = form.values;
  const clusters = choices.map((choice) => ({
    value: choice.cluster,
    label: choice.cluster,
    disabled: !canTake(choice),
  }));
  return (
    <FormFrame form={form} send={send} submit={t('warmup.start')} onCancel={onDone} fieldNames={FIELD_NAMES}>
      <NativeSelect
        label={t('warmup.cluster')}
        data={clusters}
        data-autofocus
        {...form.getInputProps('cluster')}
        onChange={(event) => form.setValues({ cluster: event.currentTarget.value, nodes: [] })}
      />
      <Radio.Group label={t('warmup.where')} {...form.getInputProps('where')}>
        <Stack gap="xs" mt={6}>
          <Radio value="copies" label={t('warmup.byCopies')} description={t('warmup.copiesHint')} />
          <Radio value="nodes" label={t('warmup.byNames')} />
        </Stack>
      </Radio.Group>
      {form.values.where === 'copies' ? (
        <TextInput
          label={t('warmup.copies')}
          inputMode="numeric"
          autoComplete="off"
          maw={200}
          {...form.getInputProps('copies')}
        />
      ) : (
        <NodeChoices choice={choices.find(({ cluster }) => cluster === form.values.cluster)} form={form} />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={t('warmup.rate')}
          description={t('warmup.rateHint')}
          inputMode="decimal"
          autoComplete="off"
          {...form.getInputProps('rate')}
        />
        <TextInput
          label={t('warmup.hours')}
          description={t('warmup.hoursHint')}
          inputMode="decimal"
          autoComplete="off"
          {...form.getInputProps('hours')}
        />
      </SimpleGrid>
      <NativeSelect
        label={t('warmup.priority')}
        description={t('warmup.priorityHint')}
        data={LEVELS.map((level) => ({ value: PRIORITIES[level], label: t(`warmup.priorities.${level}`) }))}
        {...form.getInputProps('priority')}
      />
      <Radio.Group
        label={t('warmup.when')}
        {...form.getInputProps('when')}
        onChange={(when) =>
          // A schedule pins nothing.
          form.setValues({ when: when === 'times' ? 'times' : 'now', ...(stays === 'pinned' && { stays: 'free' }) })
        }
      >
        <Stack gap="xs" mt={6}>
          <Radio value="now" label={t('warmup.now')} />
          <Radio value="times" label={t('warmup.atTimes', { branch })} description={t('warmup.atTimesHint')} />
        </Stack>
      </Radio.Group>
      {form.values.when === 'times' && <CronField form={form} />}
      <StayField form={form} />
    </FormFrame>
  );
}

/** How long the version stays needed there; a schedule pins nothing. */
function StayField({ form }: { form: UseFormReturnType<PlanForm> }) {
  const { t } = useTranslation();
  const { when, stays } = form.values;
  const choices = STAYS.filter((stay) => when === 'now' || stay !== 'pinned');
  return (
    <>
      <Radio.Group label={t('warmup.stays')} {...form.getInputProps('stays')}>
        <Stack gap="xs" mt={6}>
          {choices.map((stay) => (
            <Radio
              key={stay}
              value={stay}
              label={t(`warmup.stay.${stay}`)}
              description={stay === 'free' ? undefined : t(`warmup.stayHint.${stay}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {stays === 'days' && (
        <TextInput
          label={t('warmup.days')}
          description={t(when === 'now' ? 'warmup.daysFromNow' : 'warmup.daysFromTime')}
          inputMode="decimal"
          autoComplete="off"
          maw={240}
          {...form.getInputProps('days')}
        />
      )}
    </>
  );
}

/** The times of a schedule: common ones by a button, others as five fields of cron. */
function CronField({ form }: { form: UseFormReturnType<PlanForm> }) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <TextInput
        label={t('warmup.cron')}
        description={t('warmup.cronHint', { zone: form.values.timezone })}
        autoComplete="off"
        {...form.getInputProps('cron')}
      />
      <Group gap="xs">
        {CRONS.map((cron) => (
          <Button
            key={cron}
            size="compact-xs"
            variant="default"
            aria-pressed={form.values.cron === cron}
            onClick={() => form.setFieldValue('cron', cron)}
          >
            {t(`warmup.crons.${cron}`)}
          </Button>
        ))}
      </Group>
    </Stack>
  );
}

interface NodeChoicesProps {
  choice: WarmChoice | undefined;
  form: UseFormReturnType<PlanForm>;
}

/** The nodes by name, each with what it has and its room; those that take nothing now are disabled. */
function NodeChoices({ choice, form }: NodeChoicesProps) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!choice) return null;
  const { nodes } = form.values;
  const missing = missingBytes(choice, nodes);
  const fetched = missing > 0 ? t('warmup.brings', { bytes: format.bytes(missing) }) : t('warmup.bringsNothing');
  const about = (node: WarmChoice['nodes'][number]) => {
    if (!node.is_reporting) return t('warmup.noReport');
    if (node.is_read_only) return t('warmup.readOnly');
    const share = format.percent(shareOf(node.bytes_present, node.bytes_total));
    return [t('warmup.nodeHas', { percent: share }), roomOf(node, t, format)].join(' · ');
  };
  return (
    <Checkbox.Group label={t('warmup.chooseNodes')} {...form.getInputProps('nodes')}>
      <Stack gap="xs" mt={6} mah={260} style={{ overflowY: 'auto' }} tabIndex={-1}>
        {choice.nodes.map((node) => (
          <Checkbox
            key={node.node}
            value={node.node}
            label={node.node}
            description={about(node)}
            disabled={!isUsable(node)}
          />
        ))}
      </Stack>
      <Text size="sm" mt="xs" role="status">
        {nodes.length > 0 ? fetched : '\u00a0'}
      </Text>
    </Checkbox.Group>
  );
}
