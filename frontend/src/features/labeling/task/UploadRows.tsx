import { CloseButton, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { visible } from '@/shared/ui/visible';
import type { PictureUpload } from './usePictureUploads';

interface UploadRowsProps {
  uploads: readonly PictureUpload[];
  onRetry: (upload: PictureUpload) => void;
  onRemove: (upload: PictureUpload) => void;
}

/** Pictures on their way: how far each is, or why it failed. */
export function UploadRows({ uploads, onRetry, onRemove }: UploadRowsProps) {
  const { t } = useTranslation();
  return (
    <Stack gap={6} aria-live="polite">
      {uploads.map((upload) => {
        const name = visible(upload.file.name);
        return (
          <div key={upload.id}>
            <Group gap="xs" wrap="nowrap">
              <Text size="xs" flex={1} miw={0} truncate>
                {name}
              </Text>
              <CloseButton
                size="sm"
                aria-label={t('labeling.pictures.cancel', { name })}
                onClick={() => onRemove(upload)}
              />
            </Group>
            {upload.error ? (
              <ErrorState error={upload.error} compact onRetry={() => onRetry(upload)} />
            ) : (
              <ProgressBar ratio={upload.ratio} label={t('labeling.pictures.sending', { name })} />
            )}
          </div>
        );
      })}
    </Stack>
  );
}
