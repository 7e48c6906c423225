"""Writes language models whose weights are a table: after each word comes the next one of a sentence. A real runtime loads and
samples them like any other model, and what they say is known in advance.

usage: table_model.py FOLDER NAME=SENTENCE...     writes FOLDER/NAME.gguf; no word of a sentence may come twice
"""
import sys

import gguf
import numpy

WIDTH = 512
UNKNOWN, START, END = 0, 1, 2
FIRST_WORD = 3 + 256
# How strongly a token asks for its successor; beside these all others are at zero.
SURE, LIKELY, POSSIBLE = 30, 20, 12


def byte(character):
    """The token of one byte."""
    return 3 + ord(character)


def successors(count):
    """What follows each token: the first word after the end of a prompt or the start of a JSON text, then word after word; after
    the last one the end, or where a grammar forbids that, the end of the text."""
    words = range(FIRST_WORD, FIRST_WORD + count)
    pairs = [(byte(mark), words[0], LIKELY) for mark in '\n": ']
    pairs += [(word, following, SURE) for word, following in zip(words, words[1:])]
    return pairs + [(words[-1], END, SURE), (words[-1], byte('"'), POSSIBLE), (byte("}"), END, SURE)]


def write(path, sentence):
    words = sentence.split(" ")
    assert len(set(words)) == len(words), "a word comes twice"
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{number:02X}>" for number in range(256)] + ["\u2581" + word for word in words]
    kinds = [gguf.TokenType.UNKNOWN] + [gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.BYTE] * 256
    kinds += [gguf.TokenType.NORMAL] * len(words)
    assert len(tokens) <= WIDTH, "too many words"

    # Every token is a direction of its own, which the only layer leaves as it is; the output turns it to its successor.
    embedding = numpy.zeros((len(tokens), WIDTH), numpy.float32)
    embedding[numpy.arange(len(tokens)), numpy.arange(len(tokens))] = 1
    output = numpy.zeros((len(tokens), WIDTH), numpy.float32)
    for token, successor, strength in successors(len(words)):
        output[successor, token] = strength / numpy.sqrt(WIDTH)

    def zeros(*shape):
        return numpy.zeros(shape, numpy.float32)

    ones = numpy.ones(WIDTH, numpy.float32)
    tensors = {"token_embd.weight": embedding, "output.weight": output, "output_norm.weight": ones,
               "blk.0.attn_norm.weight": ones, "blk.0.ffn_norm.weight": ones, "blk.0.ffn_gate.weight": zeros(32, WIDTH),
               "blk.0.ffn_up.weight": zeros(32, WIDTH), "blk.0.ffn_down.weight": zeros(WIDTH, 32)}
    tensors |= {f"blk.0.attn_{part}.weight": zeros(WIDTH, WIDTH) for part in ("q", "k", "v", "output")}

    file = gguf.GGUFWriter(path, "llama")
    file.add_name("table")
    file.add_context_length(4096)
    file.add_embedding_length(WIDTH)
    file.add_block_count(1)
    file.add_feed_forward_length(32)
    file.add_head_count(8)
    file.add_head_count_kv(8)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_rope_dimension_count(WIDTH // 8)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_token_list([token.encode() for token in tokens])
    file.add_token_scores([0.0] * len(tokens))
    file.add_token_types(kinds)
    file.add_bos_token_id(START)
    file.add_eos_token_id(END)
    file.add_unk_token_id(UNKNOWN)
    file.add_add_bos_token(True)
    file.add_chat_template(
        "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}assistant:\n")
    for name, tensor in tensors.items():
        file.add_tensor(name, tensor)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


if len(sys.argv) < 3:
    sys.exit(__doc__)
for argument in sys.argv[2:]:
    name, said = argument.split("=", 1)
    write(f"{sys.argv[1]}/{name}.gguf", said)
