import { Button, Card, Group, NumberInput, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconSparkles } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Thresholds } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';

/** The server's defaults; docs/cleaning.md gives their reasons. */
const INITIAL: Thresholds = { near_distance: 4, tiny_side_px: 32, dark_bright: 0.25, blur_sharpness: 20 };
const MAX = 100_000;

interface StartFormProps {
  /** The version, as people write it. */
  name: string;
  start: (thresholds: Thresholds) => Promise<unknown>;
}

export function StartForm({ name, start }: StartFormProps) {
  const { t } = useTranslation();
  const form = useForm<Thresholds>({ initialValues: INITIAL });
  const [error, setError] = useRefused(form);
  const send = form.onSubmit(async (values) => {
    setError(null);
    try {
      await start(values);
    } catch (thrown) {
      const { fields } = asApiError(thrown);
      form.setErrors(fields);
      const wrong = Object.keys(fields)[0];
      // Once the button, which is off while it is sent, has given the focus away.
      if (wrong) requestAnimationFrame(() => form.getInputNode(wrong)?.focus());
      if (Object.keys(fields).length === 0) setError(thrown);
    }
  });
  return (
    <Card padding="lg">
      <form onSubmit={send} noValidate>
        <Stack>
          <div>
            <Title order={2} size="h4">
              {t('cleaning.startTitle', { ref: name })}
            </Title>
            <Text size="sm" c="dimmed">
              {t('cleaning.startHint')}
            </Text>
          </div>
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
            <NumberInput
              label={t('cleaning.near')}
              description={t('cleaning.nearHint')}
              min={0}
              max={10}
              allowDecimal={false}
              {...form.getInputProps('near_distance')}
            />
            <NumberInput
              label={t('cleaning.tiny')}
              description={t('cleaning.tinyHint')}
              min={0}
              max={MAX}
              allowDecimal={false}
              {...form.getInputProps('tiny_side_px')}
            />
            <NumberInput
              label={t('cleaning.dark')}
              description={t('cleaning.darkHint')}
              min={0}
              max={1}
              step={0.05}
              {...form.getInputProps('dark_bright')}
            />
            <NumberInput
              label={t('cleaning.blur')}
              description={t('cleaning.blurHint')}
              min={0}
              max={MAX}
              {...form.getInputProps('blur_sharpness')}
            />
          </SimpleGrid>
          {error !== null && <ErrorState error={error} compact />}
          <Group>
            <Button type="submit" loading={form.submitting} leftSection={<IconSparkles size={15} />}>
              {t('cleaning.start')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
