/* SPDX-License-Identifier: Apache-2.0
 * Calls of a guest from C99, those in the wrong order, too: each gives a status and a sentence. The dtypes and dims of
 * tokens and images. */
#include <stdio.h>
#include <string.h>

#include "token_model.h"

int token_model_forget(int64_t guest);

static int failed;

static void ok(int status, int line) {
  if (status == 0) return;
  fprintf(stderr, "line %d: %d: %s\n", line, status, token_model_error());
  ++failed;
}
static void refused(int status, char const* words, int line) {
  if (status == token_model_refused && strstr(token_model_error(), words) != NULL) return;
  fprintf(stderr, "line %d: %d: %s, not: %s\n", line, status, token_model_error(), words);
  ++failed;
}
static void check(int holds, int line) {
  if (!holds) fprintf(stderr, "line %d\n", line), ++failed;
}
#define OK(call) ok(call, __LINE__)
#define REFUSED(call, words) refused(call, words, __LINE__)
#define CHECK(what) check(what, __LINE__)

static void calls(MPI_Comm communicator, int rank, int ranks) {
  enum { whole = 5 };
  int const first = whole / ranks * rank + (rank < whole % ranks ? rank : whole % ranks);
  int const n = whole / ranks + (rank < whole % ranks ? 1 : 0);
  int32_t text[whole * 3], next[2 * whole * 3];
  uint8_t pixels[whole * 8], inverted[whole * 8];
  int64_t wide[whole * 3], steps = -1, begin[3], count[3];
  bool is_long[whole * 3];
  uint16_t small[whole * 3];
  float rows[whole * 2];
  int64_t text_extents[2], image_extents[3], rows_extents[2], more[2], spread[2];
  token_model model = {0}, copy;
  int i;
  text_extents[0] = n, text_extents[1] = 3, more[0] = n + 1, more[1] = 3;
  image_extents[0] = n, image_extents[1] = 2, image_extents[2] = 4, rows_extents[0] = n, rows_extents[1] = 2;
  spread[0] = 2, spread[1] = 2 * whole; /* columns vary slowest, with gaps */
  for (i = 0; i < n * 3; ++i) text[i] = first * 3 + i;
  for (i = 0; i < n * 8; ++i) pixels[i] = (uint8_t)(first * 8 + i);
  for (i = 0; i < 2 * whole * 3; ++i) next[i] = -1;

  REFUSED(token_model_step(model), "R35: the guest has not been created, or it was destroyed");
  REFUSED(token_model_destroy(&model), "R35: the guest has not been created");
  REFUSED(token_model_functions()->create(&model.id, MPI_Comm_c2f(communicator), NULL, 1),
          "R46: the C header or the Fortran module was written for other inputs and outputs");
  REFUSED(token_model_create(&model, communicator, 0, 0), "S10");
  CHECK(model.id == 0);
  OK(token_model_create(&model, communicator, whole, 0));

  OK(token_model_input_part_text(model, begin, count));
  CHECK(begin[0] == first && begin[1] == 0 && count[0] == n && count[1] == 3);
  OK(token_model_output_part_rows(model, begin, count));
  CHECK(begin[0] == first && count[0] == n && count[1] == 2);

  REFUSED(token_model_step(model), "R02: the input 'text' was not fed");
  REFUSED(token_model_get_next(model, next, text_extents, NULL), "R37: the output 'next' is asked for, but no step");
  REFUSED(token_model_set_text(model, text, more, NULL), "R11: this rank's part of the input 'text' is [batch=");
  if (n > 0) REFUSED(token_model_set_text(model, NULL, text_extents, NULL), "R39: the address of the array for 'text'");
  REFUSED(token_model_set_text(model, text, NULL, NULL), "R39");
  OK(token_model_set_text(model, text, text_extents, NULL));
  REFUSED(token_model_step(model), "R02: the input 'pixels' was not fed");
  OK(token_model_set_pixels(model, pixels, image_extents, NULL));
  OK(token_model_set_brightness(model, 2));
  REFUSED(token_model_fetch_next(model, next, more, NULL), "R11: this rank's part of the output 'next' is");
  OK(token_model_fetch_next(model, next, text_extents, spread));
  OK(token_model_step(model));
  for (i = 0; i < n * 3; ++i) CHECK(next[i / 3 * 2 + i % 3 * 2 * whole] == text[i] + 1);
  for (i = 0; i < whole * 3; ++i) CHECK(next[2 * i + 1] == -1);
  REFUSED(token_model_get_next(model, next, text_extents, NULL),
          "R38: the output 'next' is asked for, but the last step wrote it into an array of yours, by fetch");
  REFUSED(token_model_get_wide(model, wide, more, NULL), "R11");
  OK(token_model_get_wide(model, wide, text_extents, NULL));
  OK(token_model_get_is_long(model, is_long, text_extents, NULL));
  OK(token_model_get_small(model, small, text_extents, NULL));
  for (i = 0; i < n * 3; ++i) {
    uint32_t const bits = (uint32_t)small[i] << 16;
    float number;
    memcpy(&number, &bits, sizeof number);
    CHECK(wide[i] == text[i] * (int64_t)1000000007 && is_long[i] == (text[i] > 5) && number == (float)text[i]);
  }
  OK(token_model_get_rows(model, rows, rows_extents, NULL));
  for (i = 0; i < n * 2; ++i) CHECK(rows[i] == 2 * (4.0F * (float)pixels[4 * i] + 6));
  OK(token_model_get_inverted(model, inverted, image_extents, NULL));
  for (i = 0; i < n * 8; ++i) CHECK(inverted[i] == 255 - pixels[i]);
  OK(token_model_get_steps(model, &steps));
  CHECK(steps == 0);

  /* An input is read anew in each step; a fetch is for one step. */
  if (n > 0) text[0] += 100;
  OK(token_model_step(model));
  if (n > 0) CHECK(next[0] == text[0] - 99);
  OK(token_model_get_next(model, next, text_extents, NULL));
  if (n > 0) CHECK(next[0] == text[0] + 1);
  OK(token_model_get_steps(model, &steps));
  CHECK(steps == 1);
  OK(token_model_forget(model.id));
  OK(token_model_step(model));
  OK(token_model_get_steps(model, &steps));
  CHECK(steps == 0);

  copy = model;
  OK(token_model_destroy(&model));
  CHECK(model.id == 0);
  REFUSED(token_model_step(model), "R35: the guest has not been created, or it was destroyed");
  REFUSED(token_model_step(copy), "R35: the guest was destroyed");
  REFUSED(token_model_get_steps(copy, &steps), "R35: the guest was destroyed");
  REFUSED(token_model_set_text(copy, text, text_extents, NULL), "R35");
  REFUSED(token_model_forget(copy.id), "R35");
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  token_model early = {0};
  REFUSED(token_model_create(&early, MPI_COMM_WORLD, 5, 0), "R25: MPI has not been initialised");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  calls(MPI_COMM_WORLD, rank, ranks);
  calls(MPI_COMM_WORLD, rank, ranks); /* guests one after another */
  OK(token_model_create(&early, MPI_COMM_WORLD, 5, 0));
  if (failed != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) OK(token_model_destroy(&early)); /* the others do it in MPI_Finalize */
  MPI_Finalize();
  REFUSED(token_model_step(early), "R25: MPI was finalised, and all guests with it");
  REFUSED(token_model_destroy(&early), "R25: MPI was finalised");
  REFUSED(token_model_functions()->create(&early.id, 0, NULL, 1), "R46");
  return failed != 0;
}
