import { Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { GuidelinePicture } from '@/api/contract/labeling';
import { useProject } from '@/shared/domain/project';
import { Thumb } from '@/shared/grid/Thumb';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { LoadMore } from '@/shared/ui/LoadMore';
import { pictureAddress } from '../objects/guidelinePictures';
import { deletePicture, PICTURES_KEY, usePictures } from '../queries';
import classes from './pictures.module.css';

interface ProjectPicturesProps {
  /** The ids that the guideline on the screen names, saved or not. */
  shown: ReadonlySet<string>;
  onChoose: (picture: GuidelinePicture) => void;
}

/** All guideline pictures of the project, to show one again, or to delete those that no guideline names. */
export function ProjectPictures({ shown, onChoose }: ProjectPicturesProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const project = useProject();
  const client = useQueryClient();
  const pictures = usePictures();
  const [failure, setFailure] = useState<unknown>(null);
  const remove = async (id: string) => {
    setFailure(null);
    try {
      await deletePicture(project, id);
    } catch (error) {
      setFailure(error);
    }
    void client.invalidateQueries({ queryKey: PICTURES_KEY });
  };
  if (pictures.error && !pictures.rows) return <ErrorState error={pictures.error} compact onRetry={pictures.refetch} />;
  if (!pictures.rows) return null;
  if (pictures.rows.length === 0) return <EmptyState compact title={t('labeling.pictures.empty')} />;
  return (
    <section aria-label={t('labeling.pictures.ofProject')}>
      {failure != null && <ErrorState error={failure} compact />}
      <ul className={classes.grid}>
        {pictures.rows.map((picture, index) => (
          <Stack key={picture.id} component="li" gap={2}>
            <UnstyledButton
              type="button"
              className={classes.choice}
              aria-label={t('labeling.pictures.choose', { number: index + 1 })}
              onClick={() => onChoose(picture)}
            >
              <Thumb src={pictureAddress(project, picture.id)} />
            </UnstyledButton>
            <Text size="xs" c="dimmed">
              {format.bytes(picture.size_bytes)}
            </Text>
            <Group gap={4}>
              {picture.uses > 0 || shown.has(picture.id) ? (
                <Text size="xs" c="dimmed">
                  {t('labeling.pictures.uses', { count: Math.max(1, picture.uses) })}
                </Text>
              ) : (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  aria-label={t('labeling.pictures.delete', { number: index + 1 })}
                  onClick={() => void remove(picture.id)}
                >
                  {t('common.delete')}
                </Button>
              )}
            </Group>
          </Stack>
        ))}
      </ul>
      {pictures.hasMore && (
        <LoadMore onLoad={pictures.loadMore} loading={pictures.isLoadingMore} error={pictures.error} />
      )}
    </section>
  );
}
