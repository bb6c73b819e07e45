"""Measure the memory that one job takes on this machine's card; write it as a JSON file.

One file for any machine with an NVIDIA card. It needs Python 3.9, torch and transformers, for
adapters also peft, for 4-bit weights also bitsandbytes. Nothing is downloaded and nothing is
sent: the model is built from its dimensions with random weights, which take the same memory.

    python memory_test.py --out memory_test_result.json
"""

from __future__ import annotations

import argparse
import copy
import json
import platform
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from importlib import import_module, metadata
from pathlib import Path
from statistics import median
from typing import Any

JOB_FORMAT = "memory-test-job/1"
RESULT_FORMAT = "memory-test-result/1"
# Filled in where this file is handed out for one job.
EMBEDDED_JOB = ""

EXIT_OK = 0
EXIT_BAD_JOB = 2
EXIT_NO_CARD = 3
MIB = 2**20
SMI_SECONDS = 20
SMI_FIELDS = ("uuid", "name", "memory.used", "memory.total", "driver_version")
PACKAGES = ("torch", "transformers", "peft", "bitsandbytes")
INSTALL = {
    "full": "torch transformers",
    "inference": "torch transformers",
    "lora": "torch transformers peft",
    "qlora": "torch transformers peft bitsandbytes",
}
# Trained weights of this size; the value does not matter for memory, only that sums stay finite.
WEIGHT_DEVIATION = 0.02

Job = dict[str, Any]


class CannotMeasureError(Exception):
    """The job cannot be run here; the message is one sentence that says what to do."""


class DeviceState:
    """What nvidia-smi says of one card, in bytes."""

    def __init__(self, cells: list[str]) -> None:
        self.uuid = cells[0].removeprefix("GPU-")
        self.name = cells[1]
        self.used_bytes = int(cells[2]) * MIB
        self.total_bytes = int(cells[3]) * MIB
        self.driver = cells[4]


def device_states(text: str) -> list[DeviceState]:
    """Read the CSV of nvidia-smi without heading and units; lines of another shape are skipped."""
    lines = ([cell.strip() for cell in line.split(",")] for line in text.splitlines())
    return [
        DeviceState(cells)
        for cells in lines
        if len(cells) == len(SMI_FIELDS) and cells[2].isdigit() and cells[3].isdigit()
    ]


def asked_devices() -> list[DeviceState]:
    """Return what nvidia-smi says now; nothing where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={','.join(SMI_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(
            command, capture_output=True, check=True, text=True, timeout=SMI_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return device_states(told.stdout)


def state_of(devices: list[DeviceState], *, uuid: str) -> DeviceState | None:
    """Return the card in use: by its number, or the only one there is."""
    for device in devices:
        if uuid and device.uuid == uuid.removeprefix("GPU-"):
            return device
    return devices[0] if len(devices) == 1 else None


def packages() -> dict[str, str]:
    """Return the versions of what is installed."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def load_torch(work: str, *, is_rehearsal: bool) -> Any:
    """Return the module, once a card is there for it."""
    missing = [name for name in INSTALL[work].split() if name not in packages()]
    if missing:
        raise CannotMeasureError(f"{' and '.join(missing)} not found: pip install {INSTALL[work]}")
    torch = import_module("torch")
    if not is_rehearsal and not torch.cuda.is_available():
        raise CannotMeasureError(
            "no NVIDIA card that PyTorch can use: check nvidia-smi, the driver, and that torch "
            "was installed with CUDA"
        )
    return torch


def _configuration(job: Job, *, layers: int) -> Any:
    """Return the configuration of a dense decoder; biases of queries, keys and values are Qwen2's."""
    transformers = import_module("transformers")
    model = job["model"]
    kind = transformers.Qwen2Config if model["has_qkv_bias"] else transformers.LlamaConfig
    return kind(
        num_hidden_layers=layers,
        hidden_size=model["hidden"],
        intermediate_size=model["intermediate"],
        num_attention_heads=model["heads"],
        num_key_value_heads=model["kv_heads"],
        head_dim=model["head_dim"],
        vocab_size=model["vocabulary"],
        tie_word_embeddings=model["has_tied_embeddings"],
        max_position_embeddings=max(job["sequence_tokens"] + job["new_tokens"], 2048),
        bos_token_id=0,
        eos_token_id=1,
        use_cache=job["work"] == "inference",
        attn_implementation="sdpa",
    )


def built_model(torch: Any, job: Job, *, device: str) -> Any:
    """Return the model on the card: one layer is built, the others are copies of it.

    So no more is ever in memory than the finished model takes, in whatever precision.
    """
    transformers = import_module("transformers")
    model_configuration = _configuration(job, layers=job["model"]["layers"])
    build = transformers.AutoModelForCausalLM.from_config
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            model = build(_configuration(job, layers=1))
    finally:
        torch.set_default_dtype(torch.float32)
    if job["work"] == "qlora":
        _quantize(torch, model.model.layers[0], job=job, device=device)
    _deepen(model, model_configuration)
    if device == "cuda":
        # What building took beyond the model itself is not part of the run.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return model


def _deepen(model: Any, configuration: Any) -> None:
    layers = model.model.layers
    for index in range(1, configuration.num_hidden_layers):
        layer = copy.deepcopy(layers[0])
        layer.self_attn.layer_idx = index
        layers.append(layer)
    model.config = model.model.config = configuration


def _quantize(torch: Any, layer: Any, *, job: Job, device: str) -> None:
    """Put 4-bit matrices of random weights in place of the layer's linear ones."""
    bnb = import_module("bitsandbytes")
    for parent in list(layer.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is not torch.nn.Linear:
                continue
            has_double = job["has_double_quantization"]
            linear = bnb.nn.Linear4bit(
                child.in_features,
                child.out_features,
                bias=child.bias is not None,
                compute_dtype=torch.bfloat16,
                quant_type="nf4",
                compress_statistics=has_double,
            )
            values = torch.randn(child.out_features, child.in_features, dtype=torch.bfloat16)
            linear.weight = bnb.nn.Params4bit(
                values * WEIGHT_DEVIATION,
                requires_grad=False,
                quant_type="nf4",
                compress_statistics=has_double,
            )
            setattr(parent, name, linear.to(device))


def _with_adapters(model: Any, job: Job) -> Any:
    """Freeze the model and add adapters, kept in 32 bits as the library does by itself."""
    peft = import_module("peft")
    settings = peft.LoraConfig(
        r=job["lora_rank"],
        lora_alpha=2 * job["lora_rank"],
        lora_dropout=0.0,
        target_modules=list(job["lora_targets"]),
        task_type="CAUSAL_LM",
    )
    model.enable_input_require_grads()
    return peft.get_peft_model(model, settings)


class Clock:
    """Seconds of the card's work, not of its being asked."""

    def __init__(self, torch: Any, *, device: str) -> None:
        self._wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)

    def seconds(self) -> float:
        self._wait()
        return time.perf_counter()


def run_training(torch: Any, job: Job, *, device: str, clock: Clock) -> dict[str, Any]:
    """Take whole optimizer steps; return the seconds of one."""
    model = built_model(torch, job, device=device)
    has_adapters = job["work"] in ("lora", "qlora")
    if has_adapters:
        model = _with_adapters(model, job)
    if job["has_checkpointing"]:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5)
    shape = (job["micro_batch"], job["sequence_tokens"])
    tokens = torch.randint(2, job["model"]["vocabulary"], shape, device=device)
    mixed = torch.autocast(device, dtype=torch.bfloat16) if has_adapters else nullcontext()
    seconds = []
    for _step in range(job["steps"]):
        start = clock.seconds()
        with mixed:
            loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(clock.seconds() - start)
    return {
        "step_seconds": median(seconds[1:] or seconds),
        "trained_parameters": sum(parameter.numel() for parameter in trained),
    }


def run_inference(torch: Any, job: Job, *, device: str, clock: Clock) -> dict[str, Any]:
    """Read the prompts, then write ``new_tokens`` to each with a cache of keys and values."""
    model = built_model(torch, job, device=device)
    model.eval()
    shape = (job["micro_batch"], job["sequence_tokens"])
    tokens = torch.randint(2, job["model"]["vocabulary"], shape, device=device)
    prompt_bytes = 0
    with torch.inference_mode():
        model(input_ids=tokens[:, :1], use_cache=False)  # Loads the kernels.
        start = clock.seconds()
        answer = model(input_ids=tokens, use_cache=True, logits_to_keep=1)
        read = clock.seconds()
        if device == "cuda":
            prompt_bytes = torch.cuda.max_memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        for _token in range(job["new_tokens"]):
            following = answer.logits[:, -1:].argmax(dim=-1)
            answer = model(
                input_ids=following, past_key_values=answer.past_key_values, use_cache=True
            )
        written = clock.seconds()
    batch = job["micro_batch"]
    return {
        "prompt_bytes": prompt_bytes,
        "prefill_tokens_per_s": batch * job["sequence_tokens"] / (read - start),
        "decode_tokens_per_s": (
            batch * job["new_tokens"] / (written - read) if job["new_tokens"] else None
        ),
    }


def measure(job: Job, *, is_rehearsal: bool = False) -> dict[str, Any]:
    """Run the job and return the whole result."""
    before = asked_devices()
    torch = load_torch(job["work"], is_rehearsal=is_rehearsal)
    device = "cpu" if is_rehearsal else "cuda"
    clock = Clock(torch, device=device)
    run = run_inference if job["work"] == "inference" else run_training
    outcome, speeds = "rehearsed" if is_rehearsal else "measured", {}
    try:
        speeds = run(torch, job, device=device, clock=clock)
    except torch.cuda.OutOfMemoryError:
        outcome = "out_of_memory"
    peaks = {} if is_rehearsal else peaks_of(torch, before=before, after=asked_devices())
    return {
        "format": RESULT_FORMAT,
        "job": job,
        "outcome": outcome,
        "peaks": peaks,
        "speeds": speeds,
        "machine": machine_of(torch, before=before, is_rehearsal=is_rehearsal),
    }


def _uuid(torch: Any) -> str:
    return str(getattr(torch.cuda.get_device_properties(0), "uuid", ""))


def peaks_of(
    torch: Any, *, before: list[DeviceState], after: list[DeviceState]
) -> dict[str, int | None]:
    """Return the peaks: of tensors, of what PyTorch held, and of all that the job added to the card.

    PyTorch keeps what it once took, so the card's own figure after the run is that of its peak.
    """
    uuid = _uuid(torch)
    first, last = state_of(before, uuid=uuid), state_of(after, uuid=uuid)
    device_bytes = last.used_bytes - first.used_bytes if first and last else None
    return {
        "allocated_bytes": torch.cuda.max_memory_allocated(),
        "reserved_bytes": torch.cuda.max_memory_reserved(),
        "device_bytes": device_bytes,
        "others_bytes": first.used_bytes if first else None,
    }


def machine_of(torch: Any, *, before: list[DeviceState], is_rehearsal: bool) -> dict[str, Any]:
    """Return what it ran on, as far as a measurement needs to name it."""
    facts: dict[str, Any] = {"python": platform.python_version(), "packages": packages()}
    if is_rehearsal:
        return facts
    state = state_of(before, uuid=_uuid(torch))
    return facts | {
        "gpu": torch.cuda.get_device_name(0),
        "memory_bytes": torch.cuda.get_device_properties(0).total_memory,
        "cuda": torch.version.cuda,
        "driver": state.driver if state else "",
    }


def _job(path: str | None) -> Job:
    text = Path(path).read_text(encoding="utf-8") if path else EMBEDDED_JOB
    if not text:
        raise ValueError("this copy has none in it; name one with --job FILE.json")
    job: Job = json.loads(text)
    if job.get("format") != JOB_FORMAT:
        raise ValueError(f"it is not of the format {JOB_FORMAT}; take a new one")
    return job


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the memory of one job on a card.")
    parser.add_argument("--job", metavar="FILE.json", help="the job, instead of the one in here")
    parser.add_argument("--out", metavar="FILE.json", default="memory_test_result.json")
    parser.add_argument(
        "--rehearse", action="store_true", help="take the same steps without a card; no memory"
    )
    options = parser.parse_args(arguments)
    try:
        job = _job(options.job)
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"error: the job cannot be read: {problem}\n")
        return EXIT_BAD_JOB
    try:
        result = measure(job, is_rehearsal=options.rehearse)
    except CannotMeasureError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return EXIT_NO_CARD
    Path(options.out).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"{result['outcome']}: {json.dumps(result['peaks'])} -> {options.out}\n")
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
