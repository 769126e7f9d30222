import { Button, Card, Group, Stack, Textarea, Title } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useDescribe } from './queries';

interface DescriptionCardProps {
  dataset: string;
  description: string;
}

/** The description of a dataset, which those who may write can change. */
export function DescriptionCard({ dataset, description }: DescriptionCardProps) {
  const { t } = useTranslation();
  const may = useMay('researcher');
  const { describe, isPending } = useDescribe(dataset);
  const [text, setText] = useState(description);
  const save = () =>
    void describe(text)
      .then(() => notifySuccess(t('datasets.described')))
      .catch(notifyError);
  return (
    <Card>
      <Stack>
        <Title order={2} size="h4" id="dataset-description">
          {t('datasets.description')}
        </Title>
        <Textarea
          aria-labelledby="dataset-description"
          autosize
          minRows={2}
          maxLength={10_000}
          readOnly={!may}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {may && (
          <Group>
            <Button
              data-focus-as="description-save"
              aria-label={t('datasets.saveDescription')}
              onClick={save}
              loading={isPending}
            >
              {t('common.save')}
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  );
}
