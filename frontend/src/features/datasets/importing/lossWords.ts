import type { TFunction } from 'i18next';
import type { ImportLoss, ImportReport } from '@/api/contract/datasets';
import { visible } from '@/shared/ui/visible';

type Report = ImportReport['report'];
type Named = Report['unlisted'];

const NAMED = 3;
const NAMED_LOSSES = 5;
const DIGITS = 3;
const SHAPES = ['polygon', 'keypoints', 'mask', 'rotated box', 'part', 'attribute', 'outline'] as const;
type Shape = (typeof SHAPES)[number];
const isShape = (kind: string): kind is Shape => (SHAPES as readonly string[]).includes(kind);

/** `1.2 %`, as the command line writes it: a small share never reads as none. */
export const shareText = (share: number) => `${Number((share * 100).toPrecision(DIGITS))} %`;

export const shareOf = ({ lost, source }: ImportLoss) => (source > 0 ? lost / source : 0);

/** The sentences of a report, with the numbers and in the words of `atom data import`. */
export function createLossWords(t: TFunction) {
  const objects = (count: number) => t('importing.objects', { count });
  const labels = (count: number) => t('importing.labels', { count });
  const pictures = (count: number) => t('importing.pictures', { count });

  const first = ({ count, first: names }: Named): string => {
    const shown = names.slice(0, NAMED).map(visible).join(', ');
    return count > NAMED ? t('importing.andMore', { names: shown, count: count - NAMED }) : shown;
  };

  const lostPictures = ({ pictures: count, objects: ofObjects, labels: ofLabels }: Report['losses']['pictures']) => {
    const what = [ofObjects > 0 && objects(ofObjects), ofLabels > 0 && labels(ofLabels)].filter(Boolean) as string[];
    const [one, other] = what;
    if (!one) return t('importing.picturesLost', { pictures: pictures(count) });
    const both = other ? t('importing.both', { one, other }) : one;
    return t('importing.picturesLostWith', { count, pictures: pictures(count), what: both });
  };

  /** One sentence for each effect, the worst first; none where nothing is lost. */
  const effects = ({ losses }: Report): string[] => {
    const { emptied, shapes } = losses;
    const said: string[] = [];
    if (losses.objects > 0)
      said.push(
        emptied.count > 0
          ? t('importing.objectsLostEmptied', {
              count: emptied.count,
              objects: objects(losses.objects),
              pictures: pictures(emptied.count),
              names: first(emptied),
            })
          : t('importing.objectsLost', { objects: objects(losses.objects) }),
      );
    if (losses.orphans > 0) said.push(t('importing.orphansLost', { objects: objects(losses.orphans) }));
    if (losses.labels > 0)
      said.push(t('importing.labelsLost', { count: losses.labels, labels: labels(losses.labels) }));
    if (losses.pictures.pictures > 0) said.push(lostPictures(losses.pictures));
    for (const [kind, count] of Object.entries(shapes).toSorted(([, one], [, other]) => other - one)) {
      const named = isShape(kind) ? t(`importing.shape.${kind}`, { count }) : `${count} ${kind}`;
      said.push(t('importing.shapesLost', { count, shapes: named }));
    }
    return said;
  };

  /** Sentences on files that no list or annotation names, and on entries of lists without a file. */
  const gaps = ({ missing, unlisted, unlabelled }: Report): string[] => [
    ...(missing.count > 0
      ? [t('importing.missing', { entries: t('importing.entries', { count: missing.count }), names: first(missing) })]
      : []),
    ...(unlisted.count > 0
      ? [t('importing.unlisted', { files: t('importing.files', { count: unlisted.count }), names: first(unlisted) })]
      : []),
    ...(unlabelled.count > 0
      ? [t('importing.unlabelled', { pictures: pictures(unlabelled.count), names: first(unlabelled) })]
      : []),
  ];

  /** Files that look like annotations and were not understood, by reason. */
  const nearMisses = ({ near_misses: misses, near_miss_counts: counts }: Report) =>
    Object.entries(counts).map(([reason, count]) => ({
      reason,
      names: first({ count, first: misses.filter((one) => one.reason === reason).map(({ subject }) => subject) }),
    }));

  const amount = ({ kind, source }: ImportLoss) => (kind === 'label' ? labels(source) : objects(source));

  const loss = (one: ImportLoss): string => {
    const { kind, label, lost } = one;
    const share = shareText(shareOf(one));
    if (label !== undefined)
      return t('importing.lossOfClass', { lost, what: amount(one), name: visible(label), share });
    return kind === 'label'
      ? t('importing.lossOfLabels', { lost, labels: amount(one), share })
      : t('importing.lossOfObjects', { lost, objects: amount(one), share });
  };

  /** `3 of 120 objects (2.5 %); 3 of 100 objects of “cat” (3 %)`, at most so many of them. */
  const losses = (all: readonly ImportLoss[], most = NAMED_LOSSES): string => {
    const said = all.slice(0, most).map(loss).join('; ');
    return all.length > most ? t('importing.lossMore', { losses: said, count: all.length - most }) : said;
  };

  return { effects, gaps, nearMisses, losses };
}
